import { autoReloadResource } from './schema.js';

/** The webhook event about the auto-reload of a card. Reloads are operations, with events of their own. */
export const cardAutoReloadEvents = {
  when: {
    'card.auto_reload.stopped':
      'the auto-reload of a card has stopped after three refusals in a row, until you save its settings again',
  },
  data: autoReloadResource,
};
