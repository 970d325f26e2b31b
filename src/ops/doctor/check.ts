/** The result of one check. `hint` says what to do if it failed. */
export type Check = { check: string; ok: boolean; detail: string; hint: string | null };

type Finding = Omit<Check, 'check'>;

/** The finding of a check that succeeded. */
export const pass = (detail: string): Finding => ({ ok: true, detail, hint: null });
/** The finding of a check that failed, with a hint for the operator. */
export const fail = (detail: string, hint: string): Finding => ({ ok: false, detail, hint });

const LIMIT_MS = 5_000;

/** Runs one check. A check that throws, or does not end within the limit, fails with the given hint. */
export async function examine(
  check: string,
  hint: string,
  run: () => Promise<Finding>,
  limitMs = LIMIT_MS,
): Promise<Check> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<Finding>((resolve) => {
    const late = fail(`no answer within ${limitMs / 1000} s`, hint);
    timer = setTimeout(() => resolve(late), limitMs);
  });
  try {
    return { check, ...(await Promise.race([run(), limit])) };
  } catch (error) {
    return { check, ...fail(inOneLine(error), hint) };
  } finally {
    clearTimeout(timer);
  }
}

const MAX_LENGTH = 200;

function inOneLine(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return line.slice(0, MAX_LENGTH) || 'failed without a message';
}

/** A duration in words, rounded to its largest unit. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 2 * 60 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 60 * 60) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}
