/** One thing that was looked at. `hint` says what to do where something is wrong. */
export type Check = { check: string; ok: boolean; detail: string; hint: string | null };

type Finding = Omit<Check, 'check'>;

export const pass = (detail: string): Finding => ({ ok: true, detail, hint: null });
export const fail = (detail: string, hint: string): Finding => ({ ok: false, detail, hint });

const LIMIT_MS = 5_000;

/** Looks at one thing. What can't be looked at, or not within seconds, is wrong too, for the reason that was given. */
export async function examine(
  check: string,
  hint: string,
  look: () => Promise<Finding>,
  limitMs = LIMIT_MS,
): Promise<Check> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<Finding>((resolve) => {
    const late = fail(`no answer within ${limitMs / 1000} s`, hint);
    timer = setTimeout(() => resolve(late), limitMs);
  });
  try {
    return { check, ...(await Promise.race([look(), limit])) };
  } catch (error) {
    return { check, ...fail(inOneLine(error), hint) };
  } finally {
    clearTimeout(timer);
  }
}

const MAX_LENGTH = 200;

function inOneLine(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return line.slice(0, MAX_LENGTH) || 'failed without a word';
}

/** A duration as people say it. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 2 * 60 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 60 * 60) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}
