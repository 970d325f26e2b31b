import { z } from 'zod';
import { plainText } from '../../platform/http/wire.js';
import { freeForm, noCardNumber } from '../cards/free-form.js';
import { PRINTABLE, textErrors } from '../../platform/http/messages.js';

/** The body of a lock, an unlock or a closing: all of it may be left out. */
export const controlBody = freeForm('CardControl', {
  reason: plainText(200)
    .refine(...noCardNumber)
    .optional()
    .meta({ description: 'Why, for whoever reads it later.', example: 'reported as lost' }),
  request_id: z
    .string()
    .regex(/^[\x21-\x7e]{1,100}$/, textErrors(100, PRINTABLE))
    .refine(...noCardNumber)
    .optional()
    .meta({ description: 'Your own name for it. The issuer gets it too.', example: 'req-1042' }),
});

export type ControlBody = z.output<typeof controlBody>;
