"""What a database does by itself as a row comes into a table; each engine says it its own way."""

from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.home import Home


def refuse(tx: Transaction, home: Home, table: str, refusal: str) -> None:
    """Let no row come into *table*: the engine's error says *refusal*."""
    if home.server is None:
        _sqlite(tx, "BEFORE", table, f"SELECT RAISE(ABORT, '{refusal}')")
    else:
        _postgresql(tx, "BEFORE", table, f"RAISE EXCEPTION '{refusal}'")


def follow(tx: Transaction, home: Home, table: str, statement: str) -> None:
    """Run *statement* after each row that comes into *table*."""
    (_sqlite if home.server is None else _postgresql)(tx, "AFTER", table, statement)


def remove(tx: Transaction, home: Home, table: str) -> None:
    """Take away what was made for *table*."""
    tx.execute("DROP TRIGGER made" + (f" ON {table}" if home.server else ""))
    if home.server is not None:
        tx.execute("DROP FUNCTION made()")


def _sqlite(tx: Transaction, when: str, table: str, statement: str) -> None:
    tx.execute(f"CREATE TRIGGER made {when} INSERT ON {table} BEGIN {statement}; END")


def _postgresql(tx: Transaction, when: str, table: str, statement: str) -> None:
    tx.execute(
        "CREATE FUNCTION made() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN {statement}; RETURN NEW; END $$"
    )
    tx.execute(f"CREATE TRIGGER made {when} INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION made()")
