// A payroll: all salaries of a month in one bulk transfer, and a list of those that were not paid.
// Run: node payroll.mjs <month>
import { bursar, naira, until } from './bursar.mjs';

const month = process.argv[2] ?? '2026-11';

// The last three digits of an account choose what the sandbox's bank does: 001 is paid late, 002 is a closed account,
// 003 does not exist.
const staff = [
  { number: 'e-01', account: '0123456789', bank: '058', salary: 45_000_000 },
  { number: 'e-02', account: '0123457001', bank: '044', salary: 38_000_000 },
  { number: 'e-03', account: '0123458002', bank: '058', salary: 41_000_000 },
  { number: 'e-04', account: '0123459003', bank: '033', salary: 36_000_000 },
];

// One key for the month: a second run within a day gets the first answer, also after a crash in the middle of the request.
// After a day the key is free again. The references last for ever, so that no salary is paid twice then either.
const { data: accepted, replayed } = await bursar.createBulkTransfer(
  {
    transfers: staff.map(({ number, account, bank, salary }) => ({
      amount_minor: salary,
      recipient_account: account,
      recipient_bank_code: bank,
      narration: `Salary ${month}`,
      reference: `salary-${month}-${number}`,
    })),
  },
  { idempotencyKey: `payroll-${month}` },
);
console.log(replayed ? `the payroll of ${month} was accepted before` : `accepted ${accepted.id}`);

const payroll = await until(
  () => bursar.getBulkTransfer({ id: accepted.id }),
  ({ status }) => status === 'completed',
);
const states = [];
for (const { index, id, error } of payroll.items) {
  const { number, salary } = staff[index];
  // A salary that an earlier run has sent is refused here, and the error names its transfer.
  const isKnown = error?.code === 'duplicate_reference';
  const transfer = isKnown ? error.details.id : id;
  // Any other refused item has no transfer: nothing was held for it.
  const state = transfer ? await stateOf(transfer) : `refused, ${error.code}`;
  states.push(state);
  console.log(`${number} ${naira(salary)} ${state}`);
}
const paid = states.filter((state) => state === 'completed').length;
const open = states.filter((state) => state === 'pending' || state === 'processing').length;
console.log(`${paid} paid, ${states.length - paid - open} to look at`);
if (open > 0) console.log(`${open} in progress: run this again later, and pay in no other way`);

async function stateOf(id) {
  const { data } = await bursar.getTransfer({ id });
  return data.failure ? `failed, ${data.failure.code}` : data.status;
}
