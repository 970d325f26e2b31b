/** Institution code of the sandbox bank; belongs to no real institution. */
const OWN_INSTITUTION = '999999';
/** NIP writes the time of Lagos: UTC+1, no daylight saving. */
const LAGOS_OFFSET_MS = 60 * 60 * 1000;

/** A session id as NIP makes them, 30 digits: institution, yymmddHHmmss, sequence. Unique for each effect of a journal. */
export function sessionId(at: number, sequence: number): string {
  const time = new Date(at + LAGOS_OFFSET_MS).toISOString().replace(/\D/g, '').slice(2, 14);
  return OWN_INSTITUTION + time + String(sequence).padStart(12, '0');
}
