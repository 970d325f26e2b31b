import { pipeline } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';

/**
 * Yields the records of a CSV file (RFC 4180) from pieces of its text, in constant memory. A field in quotes may have
 * separators, line breaks and doubled quotes. Empty lines are left out. Throws if a quote is not closed.
 */
export async function* readCsv(
  pieces: AsyncIterable<string>,
  separator = ',',
): AsyncGenerator<string[]> {
  const records = parse({
    delimiter: separator,
    record_delimiter: ['\r\n', '\n'],
    skip_empty_lines: true,
    // The reader of rows says which column is missing, and a quote within a field is a part of it.
    relax_column_count: true,
    relax_quotes: true,
  });
  // Its failure destroys `records`, so the loop throws it.
  pipeline(pieces, records).catch(() => undefined);
  try {
    for await (const record of records) yield record as string[];
  } catch (error) {
    if (error instanceof CsvError && error.code === 'CSV_QUOTE_NOT_CLOSED') {
      throw new Error('a quote is not closed', { cause: error });
    }
    throw error;
  }
}
