package jinja

// Known differences from Ansible, all on purpose. testdata/answers marks them too ("ours" and "why").
//
//   - Attributes with underscores around them (''.__class__) do not exist: nothing of Python can be reached
//     (cases 889 and 890 of testdata/jinja.jsonl).
//   - There are no complex numbers, sets and Ellipsis: a negative number to a broken power fails, text that looks
//     like a
//     set stays text.
//   - Of several faults in one call another may be told than Python comes to first (testdata/answers/misuse.jsonl
//     holds those that are alike).
//   - lipsum() is not random.
//   - In native mode None prints as None, an unsafe result stays unsafe and a filter that finds nothing gives
//     None, as under jinja2_native = True. testdata/jinja.jsonl was made by switching to native types late, which keeps
//     some of the classic mode (cases 197, 429, 671 and 791).
//   - What would run for hours or fill the memory is refused, see Limits and Budget.
