import { answer, type Outcome } from '../shared/wire.js';
import type { ChargeOutcomes } from './charge-outcomes.js';
import { channelOf, isUnpaidPage, type Charge, type ChargeState } from './charge-state.js';
import { paymentMethodOf, paymentMethodsOf } from './payment-methods.js';
import { endPage, missingPage, PAGE_HEADERS, payPage } from './page-html.js';

/** Creates the payment pages: each operation returns HTML, or a redirect to the client. */
export function createPages({ charges }: { charges: ChargeState }, outcomes: ChargeOutcomes) {
  return {
    show(accessCode: string): Outcome {
      const charge = charges.withAccessCode(accessCode);
      if (!charge) return page(404, missingPage());
      return page(200, isUnpaidPage(charge) ? openPage(charge, null) : closedPage(charge));
    },
    /**
     * Only the first submission counts; a repeat, or one after going back in the browser, shows the result of the
     * first.
     */
    submit(accessCode: string, form: URLSearchParams): Outcome {
      const charge = charges.withAccessCode(accessCode);
      const channel = charge && channelOf(charge);
      if (!channel) return page(404, missingPage());
      if (isUnpaidPage(charge)) {
        const choice = paymentMethodOf(channel, form.get('choice') ?? '');
        if (form.get('action') === 'cancel') outcomes.leave(charge, 'cancelled');
        else if (form.get('action') === 'pay' && choice) outcomes.choose(charge, choice);
        else return page(400, openPage(charge, 'Choose what to pay with.'));
        if (isUnpaidPage(charge) && choice?.declines) {
          return page(200, openPage(charge, 'Declined. Choose something else to pay with.'));
        }
      }
      const location = returnUrl(charge) ?? `./${accessCode}`;
      return page(303, '', { location });
    },
  };
}

function page(status: number, html: string, headers: Record<string, string> = {}): Outcome {
  return answer(status, html, { ...PAGE_HEADERS, ...headers });
}

function openPage(charge: Charge, problem: string | null): string {
  const channel = channelOf(charge);
  if (!channel) return missingPage();
  const { amount_minor, client_reference, customer } = charge.order;
  const choices = paymentMethodsOf(channel);
  return payPage({ amount_minor, client_reference, customer, channel, choices, problem });
}

function closedPage(charge: Charge): string {
  const { client_reference } = charge.order;
  const { status, paidMinor } = charge;
  const amount_minor = paidMinor ?? charge.order.amount_minor;
  return endPage({ amount_minor, client_reference, status, returnUrl: returnUrl(charge) });
}

/**
 * The client's return address with the charge's reference. It never carries the outcome: the client must look that
 * up.
 */
function returnUrl({ order }: Charge): string | null {
  if (order.return_url == null) return null;
  const url = new URL(order.return_url);
  url.searchParams.set('reference', order.reference);
  return url.href;
}
