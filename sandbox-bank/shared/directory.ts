/** Banks and account holders that the sandbox bank can reach. */

/** A bank with its CBN code and its NIP institution code. */
export type Bank = { name: string; code: string; nip_code: string };

/**
 * CBN and NIP institution codes of well-known banks. The two numberings are unrelated, so neither code can be derived
 * from the other.
 */
export const BANKS: readonly Bank[] = [
  { name: 'Access Bank', code: '044', nip_code: '000014' },
  { name: 'Citibank Nigeria', code: '023', nip_code: '000009' },
  { name: 'Ecobank Nigeria', code: '050', nip_code: '000010' },
  { name: 'Fidelity Bank', code: '070', nip_code: '000007' },
  { name: 'First Bank of Nigeria', code: '011', nip_code: '000016' },
  { name: 'First City Monument Bank', code: '214', nip_code: '000003' },
  { name: 'Globus Bank', code: '103', nip_code: '000027' },
  { name: 'Guaranty Trust Bank', code: '058', nip_code: '000013' },
  { name: 'Jaiz Bank', code: '301', nip_code: '000006' },
  { name: 'Keystone Bank', code: '082', nip_code: '000002' },
  { name: 'Kuda Microfinance Bank', code: '50211', nip_code: '090267' },
  { name: 'Moniepoint Microfinance Bank', code: '50515', nip_code: '090405' },
  { name: 'OPay', code: '999992', nip_code: '100004' },
  { name: 'PalmPay', code: '999991', nip_code: '100033' },
  { name: 'Polaris Bank', code: '076', nip_code: '000008' },
  { name: 'Providus Bank', code: '101', nip_code: '000023' },
  { name: 'Stanbic IBTC Bank', code: '221', nip_code: '000012' },
  { name: 'Standard Chartered Bank', code: '068', nip_code: '000021' },
  { name: 'Sterling Bank', code: '232', nip_code: '000001' },
  { name: 'SunTrust Bank', code: '100', nip_code: '000022' },
  { name: 'TAJBank', code: '302', nip_code: '000026' },
  { name: 'Titan Trust Bank', code: '102', nip_code: '000025' },
  { name: 'Union Bank of Nigeria', code: '032', nip_code: '000018' },
  { name: 'United Bank for Africa', code: '033', nip_code: '000004' },
  { name: 'Unity Bank', code: '215', nip_code: '000011' },
  { name: 'Wema Bank', code: '035', nip_code: '000017' },
  { name: 'Zenith Bank', code: '057', nip_code: '000015' },
];

const BY_CODE = new Map(
  BANKS.flatMap((bank) => [
    [bank.code, bank],
    [bank.nip_code, bank],
  ]),
);

/** Finds the bank of a CBN or NIP code. */
export function findBank(code: string): Bank | undefined {
  return BY_CODE.get(code);
}

/** Given names of invented account holders. */
export const GIVEN_NAMES = (
  'Adaeze Aisha Babajide Chiamaka Chinedu Damilola Ebere Emeka Fatima Folake Gbenga Halima ' +
  'Ibrahim Ifeoma Kelechi Musa Ngozi Obinna Oluwaseun Rukayat Sadiq Temitope Uche Yetunde'
).split(' ');
/** Family names of invented account holders. */
export const FAMILY_NAMES = (
  'Abubakar Adebayo Adeyemi Balogun Bello Chukwu Danjuma Effiong Eze Garba Ibe Lawal ' +
  'Mohammed Nwachukwu Nwosu Obi Ogunleye Okafor Okonkwo Olatunji Onyekachi Sanusi Udo Yusuf'
).split(' ');

/** Returns an invented holder, always the same for one account at one bank. */
export function accountName(account: string, bank: Bank): string {
  let hash = 0x811c9dc5;
  for (const character of bank.nip_code + account) {
    hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193) >>> 0;
  }
  const given = GIVEN_NAMES[hash % GIVEN_NAMES.length] ?? '';
  const family = FAMILY_NAMES[(hash >>> 8) % FAMILY_NAMES.length] ?? '';
  return `${given} ${family}`.toUpperCase();
}
