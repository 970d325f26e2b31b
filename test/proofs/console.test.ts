import type { Deps } from '../../src/composition/deps.js';
import type { OperatorRole } from '../../src/platform/operators/operator.js';
import { openBrowser, type Browser, type Page } from '../support/browser.js';
import {
  createTestOperator,
  operatorDeps,
  operatorSignIn,
  stopOperatorApis,
} from '../support/operators.js';
import { SHARED_OPTIONS, startService, type Service } from '../support/service.js';
import { ORDER_TOTAL_MINOR, transferBody, type TestTenant } from '../support/tenant.js';

/** Account suffix of transfers that stay pending until the test sets their outcome at the bank. */
const PENDING = '006';
/** It would change the title of a page that took it for HTML. */
const HOSTILE = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;

let service: Service;
let browser: Browser;
let deps: Deps;
let url: string;
beforeAll(async () => {
  browser = await openBrowser();
  service = await startService(SHARED_OPTIONS.earlyAttention);
  url = String((await operatorSignIn(service.env))['BURSAR_OPERATOR_URL']);
  deps = await operatorDeps(service.env);
});
afterAll(async () => {
  await browser?.close();
  await stopOperatorApis();
  await service?.close();
});

/** A person with these roles, in a browser of their own, at the Inbox. */
async function signedIn(roles: OperatorRole[], size?: { width: number; height: number }) {
  const { key } = await createTestOperator(deps, roles);
  const page = await browser.open(`${url}/console/`, size);
  await page.sees('Operator key or ID token');
  await page.fill('Operator key or ID token', key);
  await page.key('Enter');
  await page.sees('Waiting (');
  return { page, key };
}

/** A transfer that the bank has accepted and does not decide, once it waits for an operator. */
async function stuck(tenant: TestTenant, changes: Record<string, unknown> = {}): Promise<string> {
  const id = await tenant.send(PENDING, changes);
  await tenant.waitFor(id, ({ attention }) => attention !== null);
  return id;
}

/** The first id of this kind on a page. */
const idOn = async (page: Page, prefix: string) =>
  new RegExp(`${prefix}_[0-9a-z]{26}`).exec(await page.text())?.[0] ?? `no ${prefix}`;

const buttons = (page: Page) =>
  page.evaluate(
    `return [...document.querySelectorAll('main .acts button')].map((each) => each.innerText)`,
  );
const state = (page: Page) => page.evaluate(`return document.querySelector('.state')?.innerText`);

test('an operator finds a stuck transfer in the Inbox and completes it by force, a second one approves, and the screen shows the end', async () => {
  const tenant = await service.tenant();
  const id = await stuck(tenant, { narration: HOSTILE });
  const began = performance.now();

  const { page } = await signedIn(['operator']);
  await page.sees('no final answer from the bank in good time');
  await page.press(id);
  await page.sees('Timeline (');
  expect(await state(page)).toBe('processing');
  await page.sees('on hold ₦1,510.00');
  expect(await buttons(page)).toEqual(
    expect.arrayContaining(['verify', 'retry', 'complete', 'fail']),
  );
  await page.press('complete');
  await page.fill('reason', 'the support of the bank says that it is paid, ticket 12');
  await page.check('force');
  await page.press('complete');
  await page.sees('A second person decides');
  expect(await tenant.get(id)).toMatchObject({ status: 'processing' });

  const { page: second } = await signedIn(['approver']);
  await second.sees('transfers.complete');
  const request = await idOn(second, 'apr');
  await second.press(request);
  await second.sees('the bank says that the payment is pending');
  await second.press('approve');
  await second.fill('reason', 'the bank has confirmed it to me too');
  await second.press('approve');
  await second.sees('Completed by force');
  await second.press(id);
  await second.sees('Timeline (');
  expect(await state(second)).toBe('completed');

  await page.press('Refresh');
  await page.sees('the hold was captured');
  expect(await state(page)).toBe('completed');
  console.log(`from the sign-in to the end: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  expect(await tenant.get(id)).toMatchObject({ status: 'completed', attention: null });
  expect(await tenant.balance()).toMatchObject({
    held: 0,
    available: 100_000_000 - ORDER_TOTAL_MINOR,
  });
  expect([page.problems(), second.problems()]).toEqual([[], []]);
});

test('a text of a tenant is shown as text, whatever it says', async () => {
  const tenant = await service.tenant();
  const id = await stuck(tenant, { narration: HOSTILE, metadata: { note: HOSTILE } });
  const { page } = await signedIn(['viewer']);
  await page.press(id);
  await page.sees(HOSTILE);
  await page.sees('"note": ');
  expect(
    await page.evaluate(`return document.querySelectorAll('main img, main script').length`),
  ).toBe(0);
  expect(await page.evaluate('return document.title')).toBe(`Transfer ${id} – Bursar console`);
  expect(page.problems()).toEqual([]);
});

test('a viewer sees no act, and the roles that have it', async () => {
  const tenant = await service.tenant();
  const id = await stuck(tenant);
  const { page } = await signedIn(['viewer']);
  await page.press(id);
  await page.sees('Not with your roles: complete, fail, retry, verify.');
  await page.sees('Roles for this: operator, admin.');
  expect(await buttons(page)).toEqual([]);
});

test('a record is found by its id, its reference and the request that created it, and a tenant by its name', async () => {
  const tenant = await service.tenant();
  const body = transferBody();
  const { headers, body: answer } = await tenant.transfer(body);
  const { id } = answer.data;
  const { page } = await signedIn(['viewer']);
  for (const text of [body.reference, String(headers.get('x-request-id'))]) {
    await page.press('Search');
    await page.fill('Id, reference', text);
    await page.key('Enter');
    await page.sees('Records (1)');
    await page.press(id);
    await page.sees('Timeline (');
  }
  await page.press('Search');
  await page.fill('Id, reference', id);
  await page.key('Enter');
  await page.sees(`Transfer ${id}`);
  await page.press('Search');
  await page.fill('Id, reference', 'a tenant of the tests');
  await page.key('Enter');
  await page.press(tenant.id);
  await page.sees('available ₦');
  await page.sees('Keys (1)');
  await page.sees('daily limit');
  expect(await page.text()).not.toContain(tenant.key);
  expect(page.problems()).toEqual([]);
});

test('the key is in no address and in no storage that outlives the tab, and the sign-out ends it', async () => {
  const { page, key } = await signedIn(['viewer'], { width: 390, height: 800 });
  const kept = `return JSON.stringify([location.href, document.cookie, { ...localStorage }, document.body.innerHTML])`;
  expect(await page.evaluate(kept)).not.toContain(key);
  expect(await page.evaluate('return Object.values({ ...sessionStorage })')).toEqual([key]);
  const fits =
    'const { scrollWidth, clientWidth } = document.documentElement; return scrollWidth <= clientWidth;';
  expect(await page.evaluate(fits)).toBe(true);
  await page.press('Sign out');
  await page.sees('Operator key or ID token');
  expect(await page.evaluate('return sessionStorage.length')).toBe(0);
  await page.fill('Operator key or ID token', 'op_sandbox_guess');
  await page.key('Enter');
  await page.sees('The API key');
  expect(await page.evaluate('return sessionStorage.length')).toBe(0);
});
