/** An answer of the fake. `cut`: the connection ends without it, after the request was carried out. */
export type Answer = {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
  cut?: boolean;
};

/** The envelope of a success. */
export const done = (message: string, data: unknown, meta?: unknown, status = 200): Answer => ({
  status,
  body: { status: true, message, data, ...(meta !== undefined && { meta }) },
});

/** The envelope of a refusal. */
export const refused = (status: number, message: string, code?: string): Answer => ({
  status,
  body: {
    status: false,
    message,
    ...(code !== undefined && {
      code,
      type: 'validation_error',
      meta: { nextStep: 'Read the documentation.' },
    }),
  },
});

/** The answer was written nowhere: the connection ends. */
export const cut = (answer: Answer): Answer => ({ ...answer, cut: true });

/** A page of a list, newest first. Some lists write their page size as a string. */
export function page<Row>(
  message: string,
  rows: readonly Row[],
  {
    page: number,
    size,
    textual,
    body,
  }: { page: number; size: number; textual: boolean; body: (row: Row) => unknown },
): Answer {
  const from = (number - 1) * size;
  return done(message, rows.slice(from, from + size).map(body), {
    total: rows.length,
    skipped: from,
    perPage: textual ? String(size) : size,
    page: number,
    pageCount: Math.ceil(rows.length / size),
  });
}
