#!/usr/bin/python3
"""Writes csv.jsonl beside this file: what Python's csv answers to the cases below (text, delimiter, skipinitialspace, strict)."""
import csv
import io
import json
import os

TEXTS = ['a,b\nc,d\n', 'a,b', '', '\n', 'a\n\nb\n', 'a,\n', ',a', ',', '"a,b",c\n', '"a""b",c', '"a\nb",c\n', 'a"b,c', '"a"b,c',
         '"a" ,b', ' "a",b', 'a, b', 'a, "b"', '"a', '"a\n', 'a\r\nb\r\n', 'a\rb', 'é,☃', '""', '"",""\n', '"The Rock" Johnson,Dwayne\n',
         'a;b', 'a\tb', '\r\n', 'a,b\r\n\r\nc', '"a"\r\n', "'a,b'"]


def main():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "csv.jsonl"), "w") as f:
        for text in TEXTS:
            for delimiter, skip, strict in ((",", False, False), (",", True, False), (",", False, True), (";", False, False)):
                case = {"text": text, "delimiter": delimiter, "skip": skip, "strict": strict}
                try:
                    case["rows"] = list(csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=skip, strict=strict))
                except Exception as e:
                    case["error"] = str(e)
                f.write(json.dumps(case, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
