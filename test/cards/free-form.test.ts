import { z } from 'zod';
import { freeForm } from '../../src/capabilities/cards/schema.js';

const body = freeForm('Probe', { amount_minor: z.int() });

test('what is not known is kept as metadata, whatever it is called', () => {
  const given = { amount_minor: 1, note: 'a', constructor: 'b', metadata: { order: 'c' } };
  expect(body.parse(given)).toMatchObject({
    amount_minor: 1,
    metadata: { note: 'a', constructor: 'b', order: 'c' },
  });
});
