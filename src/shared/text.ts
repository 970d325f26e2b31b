import { holdsCardNumber } from './card-data.js';

/**
 * Controls, marks of direction and separators of lines: nobody sees them, and a text with them may read as another one.
 * They are listed one by one, because the patterns of JSON Schema have no Unicode classes.
 */
export const CONTROL =
  '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069';
/**
 * Characters without a width or a shape of their own. The joiners U+200C and U+200D are not among them: Persian, the scripts of
 * India and composed emoji need them.
 */
export const UNSEEN =
  '\\u00ad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b\\u2060-\\u2065\\u206a-\\u206f\\u2800\\u3164\\ufeff\\uffa0' +
  '\\ufff9-\\ufffb';
const REFUSED = new RegExp(`[${CONTROL}${UNSEEN}]`, 'gu');

/** A text without the characters that a request's text may not have: controls, marks of direction and invisible ones. */
export const withoutUnseen = (text: string): string => text.replaceAll(REFUSED, '');

/**
 * A free text of somebody whom nobody has checked, such as a provider or the sender of a message to Temporal, as it may be stored
 * and shown: without the characters that a request's text may not have, and as MongoDB stores it. A text with a card number in it
 * has `*` for each digit.
 */
export function uncheckedText(text: string): string {
  const seen = withoutUnseen(text).toWellFormed();
  return holdsCardNumber(seen) ? seen.normalize('NFKC').replaceAll(/[0-9]/g, '*') : seen;
}
