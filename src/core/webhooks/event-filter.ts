/** The longest filter of an endpoint. */
export const MAX_PATTERNS = 50;

/** A pattern: the name of an event, in which one `*` may stand for any characters, as in `card.*` and `*.failed`. */
export const EVENT_PATTERN = /^[a-z_.]*\*?[a-z_.]*$/;

/** True if an event of this name fits one of these patterns. */
export const fitsAny = (patterns: readonly string[], name: string): boolean =>
  patterns.some((pattern) => fits(pattern, name));

function fits(pattern: string, name: string): boolean {
  const [begin = '', end] = pattern.split('*');
  if (end === undefined) return name === begin;
  const isLongEnough = name.length >= begin.length + end.length;
  return isLongEnough && name.startsWith(begin) && name.endsWith(end);
}
