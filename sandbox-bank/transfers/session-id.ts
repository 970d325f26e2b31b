/** The sandbox bank's institution code; no real institution has it. */
const OWN_INSTITUTION = '999999';
/** NIP uses Lagos time: UTC+1, without daylight saving. */
const LAGOS_OFFSET_MS = 60 * 60 * 1000;

/**
 * Returns a session id in NIP's format, 30 digits: institution, yymmddHHmmss, sequence. Unique for each effect of a
 * journal.
 */
export function sessionId(at: number, sequence: number): string {
  const time = new Date(at + LAGOS_OFFSET_MS).toISOString().replace(/\D/g, '').slice(2, 14);
  return OWN_INSTITUTION + time + String(sequence).padStart(12, '0');
}
