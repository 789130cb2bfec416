#!/usr/bin/python3
"""Writes times.txt beside this file: what Python's datetime answers."""
import datetime
import os

os.environ["TZ"] = "UTC"
MOMENTS = [(2023, 5, 6, 7, 8, 9, 0), (1999, 12, 31, 23, 59, 59, 123456), (2024, 2, 29, 0, 0, 0, 0), (2021, 1, 3, 12, 30, 0, 500000)]
FORMATS = list("aAbBcCdDeFgGhHIjklmMpPrRsSTuUVwWxXyYZz%nt") + ["-d", "_d", "^a", "-H", "0e", "Q", "f"]
READ = [("2023-05-06 07:08:09", "%Y-%m-%d %H:%M:%S"), ("06/May/23", "%d/%b/%y"), ("06/May/70", "%d/%b/%y"), ("7 PM", "%I %p"), ("12 am", "%I %p"),
        ("2023-05-06T07:08:09.123Z", "%Y-%m-%dT%H:%M:%S.%fZ"), ("2023-126", "%Y-%j"), ("2023-02-30", "%Y-%m-%d"), ("x", "%Y"), ("2023x", "%Y"),
        ("2023-05-06 +0130", "%Y-%m-%d %z"), ("Saturday, 06 May 2023", "%A, %d %B %Y"), ("2023", "%Q"), ("2023", "%"), ("5  6", "%m %d"), ("05:06", "%H:%M"),
        ("2023-5-6", "%Y-%m-%d"), ("99", "%d"), ("2023-05-06 UTC", "%Y-%m-%d %Z"), ("%2023", "%%%Y"),
        ("20361123130128Z", "%Y%m%d%H%M%S%fZ"), ("1231", "%H%M%S"), ("2026-01-01t01:02:03z", "%Y-%m-%dT%H:%M:%SZ"), ("111", "%m%d"), ("3pm", "%I%p"), ("12pm", "%I%p"),
        ("12", "%I"), ("mon jan  5 2026", "%a %b %d %Y"), ("monday", "%a"), ("2026 5 1", "%Y %W %w"), ("2026 5 0", "%Y %U %w"), ("2026 0 mon", "%Y %W %a"), ("2026 0 0", "%Y %U %w"),
        ("2026-W05-1", "%G-W%V-%u"), ("2026-W05", "%G-W%V"), ("2026 05 1", "%Y %V %u"), ("05", "%V"), ("2026 1 1 001", "%G %V %u %j"), ("01/02/26", "%x"), ("1:2:3", "%X"),
        ("Fri May  6 07:08:09 2022", "%c"), ("2026-01-01 -01:30", "%Y-%m-%d %z"), ("2026-01-01 +01:3015", "%Y-%m-%d %z"), ("2026-01-01 Z", "%Y-%m-%d %z"), ("2026-01-01 z", "%Y-%m-%d %z"),
        ("100%", "%y0%%"), ("2026-13-01", "%Y-%m-%d"), ("29 2", "%d %m"), ("0000", "%Y"), ("61", "%S"), ("0.5", "%S.%f"), ("a.b 5", "a.b %d"), ("axb 5", "a.b %d"), ("5", "%d "), ("05 1", "%d%m"),
        (" 5", "%d"), ("MAY", "%B"), ("may", "%b"), ("sept", "%b"), ("12gmt", "%HGMT"), ("366 2023", "%j %Y"), ("2023 366", "%Y %j"), ("1 53 6", "%d %U %w"), ("5", "%e"), ("1", "%T")]
DELTAS = [datetime.timedelta(0), datetime.timedelta(days=1, hours=2, microseconds=3), datetime.timedelta(seconds=-1), datetime.timedelta(days=2), datetime.timedelta(seconds=59)]

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "times.txt"), "w") as f:
    def put(kind, given, answer):
        f.write("%s\t%r\t%r\n" % (kind, given, answer))
    for m in MOMENTS:
        d = datetime.datetime(*m)
        for form in FORMATS:
            put("strftime", d.isoformat() + " %" + form, d.strftime("%" + form))
        put("str", d.isoformat() + " ", str(d))
        put("repr", d.isoformat() + " ", repr(d))
    for text, form in READ:
        try:
            put("strptime", form + "|" + text, str(datetime.datetime.strptime(text, form)))
        except ValueError as e:
            put("strptime", form + "|" + text, "ERR " + str(e))
    for d in DELTAS:
        put("delta", "%d %d %d" % (d.days, d.seconds, d.microseconds), "%s|%r|%r|%s|%s" % (d, d, d.total_seconds(), d * 2, d / 2))
    for a in MOMENTS:
        for b in MOMENTS:
            put("sub", datetime.datetime(*a).isoformat() + " " + datetime.datetime(*b).isoformat(), str(datetime.datetime(*a) - datetime.datetime(*b)))
