import {
  readSubject,
  type VerifyCustomerBody,
} from '../../src/capabilities/identity-checks/schema.js';

const person = { first_name: 'Ada', last_name: 'Obi' };

test.each<['bvn' | 'bank_account', Partial<VerifyCustomerBody>, string[]]>([
  [
    'bvn',
    { account_number: '0123456789', bank_code: '058' },
    ['number', 'account_number', 'bank_code'],
  ],
  ['bank_account', { number: '22212345678' }, ['account_number', 'bank_code', 'number']],
])(
  'a refused %s check with %j lists every field that is missing or is not one of its type',
  (type, change, fields) => {
    const issues = fields.map((field) => expect.objectContaining({ field }) as object);
    const refused = { code: 'validation_error', field: fields[0], details: { issues } };
    expect(() => readSubject(type, { ...person, ...change })).toThrow(
      expect.objectContaining(refused) as Error,
    );
  },
);
