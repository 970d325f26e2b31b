import type {
  ActivityInboundCallsInterceptor,
  ActivityInterceptorsFactory,
} from '@temporalio/worker';
import type { CallRates } from '../src/core/providers/call-rates.js';
import { countAnswer, notingAnswer } from '../activities/provider-result.js';

/**
 * An interceptor that notes which calls of a provider's queue had a usable answer. An activity that fails before its call says
 * nothing about its provider: our database failed, or the record is not there. Its call is free for another one.
 */
export const answersNoted =
  (name: string, rates: Pick<CallRates, 'answered' | 'unused'>): ActivityInterceptorsFactory =>
  () => {
    const inbound: ActivityInboundCallsInterceptor = {
      execute: (input, next) => notingAnswer(() => next(input), countAnswer(rates, name)),
    };
    return { inbound };
  };
