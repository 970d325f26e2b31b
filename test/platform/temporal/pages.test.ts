import { readFileSync } from 'node:fs';
import { TypedSearchAttributes } from '@temporalio/common';
import { searchAttributes } from '../../../src/platform/temporal/search-attributes.js';
import { workflowPage } from '../../../src/platform/temporal/pages.js';
import { temporalOf } from '../../../src/shared/temporal-settings.js';

test('the page of a workflow is at its id below the namespace, and there is none without the address of the UI', () => {
  const given = { BURSAR_ENV: 'live', BURSAR_TASK_QUEUE: 'bursar', BURSAR_TEMPORAL_REGISTER: true };
  const of = (url?: string) =>
    workflowPage(temporalOf({ ...given, BURSAR_TEMPORAL_UI_URL: url }, {}), 'transfer/trf_1');
  const page = 'https://temporal.example/ui/namespaces/bursar-live/workflows/transfer%2Ftrf_1';
  expect([of('https://temporal.example/ui/'), of('https://temporal.example/ui'), of()]).toEqual([
    page,
    page,
    null,
  ]);
});

test('the command for administrators registers every search attribute, and the view for operators has each as a column', () => {
  const deploying = readFileSync('docs/deploying.md', 'utf8');
  const [, view = ''] = readFileSync('docs/operating/stuck-transfers.md', 'utf8').split(
    '**A view for operators.**',
  );
  const [columns = ''] = view.split('Save these queries');
  for (const { name, type } of Object.values(searchAttributes)) {
    expect(deploying).toContain(
      `--name ${name} --type ${TypedSearchAttributes.toMetadataType(type)}`,
    );
    expect(columns).toContain(`\`${name}\``);
  }
});
