import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An effect on money, in the order in which the effects took place. */
export type JournalEntry = {
  seq: number;
  kind:
    | 'paid_out'
    | 'paid_out_returned'
    | 'charged'
    | 'deposited'
    | 'refunded'
    | 'refund_returned'
    | 'dispute_lost'
    | 'topped_up';
  reference: string;
  amount: number;
  fee: number;
};

/** A movement of the balance, by the thing behind it and its number. */
export type LedgerEntry = {
  id: number;
  difference: number;
  balance: number;
  model: 'Transfer' | 'Transaction' | 'Refund' | 'Topup';
  row: number;
  createdAt: string;
};

/** A request as it arrived, for the comparison with the official document. */
export type RecordedRequest = {
  method: string;
  path: string;
  query: Record<string, string>;
  body: unknown;
};

/** A collection of the records of one kind, by key. Every change is on disk before it can be answered. */
export type Table<T> = {
  get(key: string): T | undefined;
  put(key: string, value: T): T;
  remove(key: string): void;
  all(): T[];
};

/** The fake's state: tables in an append-only file, which a restart reads again. */
export type Store = ReturnType<typeof openStore>;

type Line = { table: string; key: string; value: unknown };

/** Opens the state in a folder. A line that a death cut off is the last one, and its change was never answered. */
export function openStore(folder: string) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'paystack.jsonl');
  const tables = new Map<string, Map<string, unknown>>();
  const rowsOf = (name: string): Map<string, unknown> => {
    const rows = tables.get(name) ?? new Map<string, unknown>();
    tables.set(name, rows);
    return rows;
  };
  const apply = ({ table, key, value }: Line): void => {
    if (value === null) rowsOf(table).delete(key);
    else rowsOf(table).set(key, value);
  };
  if (existsSync(file)) {
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      const read = parse(line);
      if (read) apply(read);
    }
  }
  const write = (line: Line): void => {
    appendFileSync(file, `${JSON.stringify(line)}\n`);
    apply(line);
  };

  function table<T>(name: string): Table<T> {
    return {
      get: (key) => rowsOf(name).get(key) as T | undefined,
      put: (key, value) => {
        write({ table: name, key, value });
        return value;
      },
      remove: (key) => write({ table: name, key, value: null }),
      all: () => [...rowsOf(name).values()] as T[],
    };
  }

  const counters = table<number>('counters');
  const journal = table<JournalEntry>('journal');
  const ledger = table<LedgerEntry>('ledger');
  const count = (name: string, from: number): number =>
    counters.put(name, (counters.get(name) ?? from) + 1);

  return {
    table,
    /** The next number of a series. */
    count,
    journal: () => journal.all(),
    note(entry: Omit<JournalEntry, 'seq'>): void {
      const seq = count('journal', 0);
      journal.put(String(seq), { seq, ...entry });
    },
    balance: () => counters.get('balance') ?? 0,
    /** The movements of the balance, the oldest first. */
    ledger: () => ledger.all(),
    /** Moves the balance, with an entry in its ledger that names what is behind it. */
    move(amount: number, model: LedgerEntry['model'] = 'Topup', row = 0): void {
      const balance = counters.put('balance', (counters.get('balance') ?? 0) + amount);
      const id = count('ledger', 149_411_613);
      const createdAt = new Date().toISOString();
      ledger.put(String(id), { id, difference: amount, balance, model, row, createdAt });
    },
  };
}

function parse(line: string): Line | null {
  try {
    return JSON.parse(line) as Line;
  } catch {
    return null;
  }
}
