/** Names of fields for the data of a card that must never be stored, in lower case and without separators. */
const CARD_FIELDS = new Set(
  [
    'pan cardpan primaryaccountnumber cardnumber cardnum cardno ccnumber ccnum creditcardnumber debitcardnumber',
    'cv2 csc cvn securitycode cardsecuritycode pin cardpin pinnumber pinblock',
    'track track1 track2 track3 track1data track2data track3data trackdata',
  ].flatMap((line) => line.split(' ')),
);

/** Words of a name that are about such data alone. */
const SECRET =
  /cvv|cvc|_security_?code_|_card_?verification_?(?:code|data|digits|number|value)_|_primary_?account_?number_|_pin_?block_|_track_[1-3]_|_track(?:_?[1-3])?(?:_?equivalent)?_?data_|_mag(?:netic)?_?stripe_/;
/** Words that name the result of a check instead. */
const RESULT =
  /_(?:check|match|provided|present|required|response|result|status|verified)(?:ed|es|s|_code)?_$/;
/** Words that mean something else too: only digits in the length of a security code or a PIN are one. */
const CODE = /^_cid_$|_card_cid_|_(?:cav|csc|cv_2|cvd|cvn|cvx)_/;
const PIN = /_(?:atm|card)?pin(?:code|no|number)?_/;

/**
 * True if a field of this name would hold a card number, a security code, a PIN or a track (PCI DSS). Names are read word by word, also
 * as `cardCvv2`. A word within another one does not count: `shipping`, `pinned`, `tracking_id`.
 */
export function isCardField(name: string, value: unknown): boolean {
  const plain = withoutUnseen(name);
  if (CARD_FIELDS.has(plain.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))) return true;
  if (!/cv|cs|cid|cav|pin|secur|track|stripe|verif|primary/i.test(plain)) return false;
  const words = plain.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g) ?? [];
  const text = `_${words.join('_').toLowerCase()}_`;
  if (SECRET.test(text)) return !isHarmless(value) && !(RESULT.test(text) && !isDigits(value, 12));
  return (CODE.test(text) && isDigits(value, 4)) || (PIN.test(text) && isDigits(value, 12, 4));
}

/** True for a value that says whether there is one. */
const isHarmless = (value: unknown): boolean => value === null || typeof value === 'boolean';

/** True for so many digits alone, or a list with such a value. */
const isDigits = (value: unknown, most: number, least = 3): boolean =>
  [value].flat().some((each) => {
    const digits = typeof each === 'string' || typeof each === 'number' ? `${each}`.trim() : '';
    return /^[0-9]+$/.test(digits) && digits.length >= least && digits.length <= most;
  });

/** True if a value of JSON is or contains a card number. */
export const isCardNumber = (value: unknown): boolean =>
  (typeof value === 'string' || typeof value === 'number') && holdsCardNumber(textOf(value));

/**
 * The text in which a card number is looked for. Of a number, only the integer part counts: the digits of a fraction
 * are no card number. From 1e21 on, JavaScript writes a number with an exponent and thus with a fraction again; its
 * integer part has more digits than any card number.
 */
function textOf(value: string | number): string {
  if (typeof value === 'string') return value;
  return Math.abs(value) < 1e21 ? String(Math.trunc(value)) : '';
}

/** The digits of the shortest card number. */
const MIN_DIGITS = 13;

/** A word that is an id or a digest in hexadecimal, in one of their lengths. */
const HEXADECIMAL =
  /(?<![0-9A-Za-z])(?=[0-9]*[a-f])(?:[0-9a-f]{24}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})(?![0-9A-Za-z])/gi;
/** The numbers of the card networks, each with the lengths that it issues. */
const ISSUED =
  /^(?:4[0-9]{15}(?:[0-9]{3})?|5[1-5][0-9]{14}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[689][0-9])[0-9]{11}|35(?:2[89]|[3-8][0-9])[0-9]{12}|6(?:011|4[4-9][0-9]|5[0-9]{2})[0-9]{12}(?:[0-9]{3})?|62[0-9]{14,17}|50(?:6[01]|7[89])[0-9]{12}(?:[0-9]{3})?|(?:50(?:18|20|38)|5893|6304|6759|676[1-3])[0-9]{10,15})$/;
/** Characters without a width of their own: between digits, nobody sees them. */
const WITHOUT_WIDTH = /[\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** A card number without separators, anywhere in a text. */
const BARE =
  /(?<![0-9])(?:[3-6][0-9]{12,18}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12})(?![0-9])/g;
/**
 * A card number in groups, as a word of its own: 4-4-4-4 and, with fewer or more digits at its end, 13 to 19 of them; 4-6-5
 * (American Express) and 4-6-4 (Diners Club). A UUID has groups of digits too, and is not matched. It is a lookahead, because a
 * number may begin in each group.
 */
const GROUPED =
  /(?<![0-9A-Za-z])(?=((?:[2-6][0-9]{3}([ ._/‐–-])[0-9]{4}\2[0-9]{4}\2[0-9]{1,4}(?:\2[0-9]{1,3})?|3[0-9]{3}([ ._/‐–-])[0-9]{6}\3[0-9]{4,5})(?![0-9A-Za-z])))/g;

/**
 * Detects a card number, grouped or not: 13 to 19 digits that begin with 3 to 6, or 16 digits that begin with 2221 to 2720
 * (Mastercard), and that pass the Luhn check. Digits and spaces of other scripts are normalised first, and characters without a
 * width do not count.
 */
export function holdsCardNumber(text: string): boolean {
  if (text.length < MIN_DIGITS) return false;
  const plain = withoutUnseen(text).replaceAll(HEXADECIMAL, cardNumberIn);
  const grouped = [...plain.matchAll(GROUPED)].flatMap(([, run = '']) => runsIn(run));
  return [plain, ...grouped].some((run) => (run.match(BARE) ?? []).some(passesLuhn));
}

/** The text as it is seen: digits and letters of other forms are normalised. */
const withoutUnseen = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text) ? text : text.normalize('NFKC').replaceAll(WITHOUT_WIDTH, '');

/**
 * The card number in a hexadecimal word; a space if there is none. By chance, one random word of 32 in 1,400 has digits that pass the
 * check, so more is asked: a number of a card network, and that the word begins with it before D or F, as the data of a track and a
 * padded number do, or that the rest has at most five different characters. Of random words, that is one of 32 in
 * 200,000, and one of 24 in 90,000.
 */
function cardNumberIn(word: string): string {
  const found = [...word.matchAll(/(?<![0-9])[0-9]{14,19}(?![0-9])/g)].find(([digits], i, all) => {
    const at = all[i]?.index ?? 0;
    const rest = word.slice(0, at) + word.slice(at + digits.length);
    const isFirst = at === 0 && /^[df]/i.test(rest);
    const isFewKinds = new Set(rest.toLowerCase()).size <= 5;
    return (isFirst || isFewKinds) && ISSUED.test(digits) && passesLuhn(digits);
  });
  return found?.[0] ?? ' ';
}

/** The digits of a run in groups. Its short last group may be a security code or a month after the number. */
const runsIn = (run: string): string[] =>
  [run, run.replace(/[^0-9][0-9]{1,3}$/, '')].map((each) => each.replaceAll(/[^0-9]/g, ''));

function passesLuhn(digits: string): boolean {
  const sum = [...digits].toReversed().reduce((total, digit, i) => {
    const value = Number(digit) * (i % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/**
 * An id that another system gives to something, such as a UUID. Null if it has the form and the check digit of a card number,
 * or other characters than those of an id. Digits within a longer id are not checked: by chance, one id in some hundreds has
 * digits that pass the check, and its record would be lost with it.
 */
export const opaqueId = (id: string | null): string | null =>
  id !== null && /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(id) && !isDigitsOfCard(id) ? id : null;

/** 13 to 19 digits with the check digit, whatever they begin with. */
function isDigitsOfCard(id: string): boolean {
  const digits = id.replaceAll(/[-_]/g, '');
  return /^[0-9]{13,19}$/.test(digits) && passesLuhn(digits);
}
