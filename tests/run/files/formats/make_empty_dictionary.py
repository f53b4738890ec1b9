# Arrow files whose dictionaries hold no text, one without rows and one whose texts are all null: python3 make_empty_dictionary.py FOLDER (pyarrow).
import sys

import pyarrow as pa
import pyarrow.ipc as ipc

for name, texts in (("none", []), ("nulls", [None, None, None])):
    table = pa.table({"id": pa.array(range(len(texts)), pa.int64()), "s": pa.array(texts, pa.string()).dictionary_encode(), "t": pa.array(texts, pa.string()).dictionary_encode()})
    with ipc.new_file(f"{sys.argv[1]}/dictionary_{name}.arrow", table.schema) as out:
        out.write_table(table)
