"""Catalog: the tables of a tenant's schema, as PostgreSQL's catalog has them."""

from codeflow_memory.storage.engine import Table, Transaction


def tables(tx: Transaction) -> list[Table]:
    """List the tables of the schema that the search path begins with, in byte order of the names.

    Three questions, however many tables there are.
    """
    columns, keys, references = (tx.rows(sql) for sql in (_COLUMNS, _KEYS, _REFERENCES))
    return [
        Table(
            name,
            tuple(column for table, column in columns if table == name),
            tuple(column for table, column in keys if table == name),
            tuple((column, to) for table, column, to in references if table == name),
        )
        for name in sorted({table for table, _ in columns}, key=str.encode)
    ]


_COLUMNS = """
SELECT c.relname, a.attname
  FROM pg_class AS c
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
 ORDER BY c.relname, a.attnum
"""
_KEYS = """
SELECT c.relname, a.attname
  FROM pg_index AS i
  JOIN pg_class AS c ON c.oid = i.indrelid
 CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k (number, place)
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.number
 WHERE c.relnamespace = current_schema()::regnamespace AND i.indisprimary
 ORDER BY c.relname, k.place
"""
_REFERENCES = """
SELECT c.relname, a.attname, f.relname
  FROM pg_constraint AS k
  JOIN pg_class AS c ON c.oid = k.conrelid
  JOIN pg_class AS f ON f.oid = k.confrelid
 CROSS JOIN unnest(k.conkey) WITH ORDINALITY AS n (number, place)
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = n.number
 WHERE c.relnamespace = current_schema()::regnamespace AND k.contype = 'f'
 ORDER BY c.relname, k.conname, n.place
"""
