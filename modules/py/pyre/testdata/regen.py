#!/usr/bin/python3
"""Writes re.jsonl beside this file: what Python's re answers to the cases below.

Each line has the pattern, flags (of i m s x a), the text and, for replacements, the template; the answer is the list of
matches with their groups, the replaced text, or the error.
"""
import json
import os
import re
import warnings

FIND = r"""
a|b                     cab
(a)(b)?                 ac ab
(?P<x>a)(b)(?P<y>c)     abc
(?P<q>['"]).*?(?P=q)    say 'hi' "yo"
(\w)\1                  aabbc
(a)|(b)                 ab
^\w+$                   word
^b$                     b
\bfoo\b                 foo food foo
\Aab\Z                  ab
a{2}                    aaaa
a{,2}                   aaa
a{1,}                   aaa
a{                      a{
a{}                     a{}
a{1                     a{1
a{1,b}                  a{1,b}
x*                      axb
(x|y)+                  xyyx
[abc]+                  aabbz
[^abc]+                 aabbz
[]a]+                   a]b
[^]a]+                  a]bc
[a-c-]+                 a-cd
[a\-c]+                 a-bc
[[a]+                   [a]
[a-z&&[b]]              a&]
[\d\s]+                 1 2a
[\w.-]+@\w+             me.too@x y
[\x41-\x43]+            ABCD
[\b]                    x
\x41\u0042              AB
\101                    A
\0                      x
\.                      a.b
\/\-\:                  /-:
a.c                     abc a\nc
(?s)a.c                 a\nc
(?i)ABC                 abc
(?i:A)b                 Ab aB ab
(?im)^b                 a\nB
(?x)a b # c             ab
(?-i:a)                 A
(?:ab)+                 abab
(?>a+)b                 aab
a++b                    aab
a*+a                    aaa
a?+b                    ab
(?=a)\w                 ba
(?!a)\w                 ab
(?<=a)b                 ab cb
(?<!a)b                 ab cb
(?<=ab|cd)x             abx cdx
(?<=a+)b                ab
(?<=(a)\1)b             aab
(a)?(?(1)b|c)           ab c
(?P<n>a)?(?(n)b|c)      ab c
(?#note)a               a
(                       x
)                       x
(a                      a
a)                      a
[                       x
[a                      x
[a-                     x
[z-a]                   x
[\d-z]                  x
[a-\d]                  x
*                       x
+a                      x
a**                     x
a+*                     x
a{2}{3}                 x
a{3,2}                  x
^*                      x
(*)                     x
(?                      x
(?P                     x
(?P<                    x
(?P<>a)                 x
(?P<1a>a)               x
(?P<n                   x
(?P<n>a)(?P<n>b)        x
(?P=n)                  x
(?P=                    x
(?Px)                   x
(?Z)                    x
(?<x)                   x
(?<                     x
(?(1)a)                 x
(?(n)a)                 x
(?(0)a)                 x
(a)(?(1)a|b|c)          x
a(?i)b                  x
(?i                     x
(?i:a                   x
(?iz)                   x
(?#a                    x
(?:a                    x
(?=a                    x
\1                      x
(a)\2                   x
(a\1)                   x
\q                      x
\z                      x
[\q]                    x
[\8]                    x
\x4                     x
\u12                    x
\400                    x
a\                      x
é+                      éé
[é-ü]+                  éöü
\w+                     naïve Ünï
\d+                     12 ٣٤
(?a)\w+                 naïve
(?a)[\w-]+              na-ïve
a|                      ba
()                      ab
(a|ab)(c|bcd)(d*)       abcd
\s+                     a \t b
\S+                     a b
\D+                     1ab2
\W+                     a--b
\Bb                     ab b
$                       ab
^                       ab
(.)(.)                  abcd
((a)(b))                abab
[ \t]+                  a  b
#                       a#b
a b                     a b
\ b                     a b
[#]                     #
\-                      a-b
\#                      #
\~\!\@\%\&\_            ~!@%&_
(\d+)-(\d+)             10-20 30-40
(\d{1,3}\.){3}\d{1,3}   10.0.0.1
"""

SUB = r"""
a           aaa     b
(a)(b)      abab    \2\1
(?P<x>a)    aba     [\g<x>]
(a)         aba     \g<1>0
(a)         aba     \g<0>
(a)|(b)     ab      <\1\2>
x*          abxd    -
b*          abc     -
a           a       \n
a           a       \t\\
a           a       \.
a           a       \-x
a           a       \q
a           a       \1
a           a       \g
a           a       \g<
a           a       \g<>
a           a       \g<1
a           a       \g<n>
a           a       \g<1a>
a           a       \g<9>
a           a       \0
a           a       \012
a           a       \101
a           a       \400
a           a       x\
(a)         a       \11
^           a\nb    >
$           ab      !
\b          ab cd   |
"""


def flags(text):
    return sum({"i": re.I, "m": re.M, "s": re.S, "x": re.X, "a": re.A}[c] for c in text)


def lines(block, columns):
    for line in block.strip("\n").split("\n"):
        yield [part.replace("\\n", "\n").replace("\\t", "\t") if n == 1 else part
               for n, part in enumerate(re.split(r"  +", line, columns - 1))]


def answer(case):
    try:
        r = re.compile(case["pattern"], flags(case.get("flags", "")))
        if "template" in case:
            return r.sub(case["template"], case["text"])
        return [[m.group(0), *m.groups()] for m in r.finditer(case["text"])]
    except Exception as e:
        return "%s: %s" % (type(e).__name__, e)


def main():
    warnings.simplefilter("ignore")
    cases = [{"pattern": p, "text": t} for p, t in lines(FIND, 2)]
    cases += [{"pattern": p, "text": t, "template": s} for p, t, s in lines(SUB, 3)]
    cases += [{"pattern": p, "text": "aB\nb c\n", "flags": f} for p in ("^b", "b$", "a.*b", " b # x", "\\w+$") for f in ("i", "m", "s", "x", "im", "a")]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "re.jsonl"), "w") as f:
        for case in cases:
            case["answer"] = answer(case)
            f.write(json.dumps(case, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
