import { dieAtEveryPoint } from './points.js';

dieAtEveryPoint({
  name: 'refused',
  suffix: '002',
  ends: 'failed',
  paid: 0,
  calledBack: { suffix: '006', tell: 'failed' },
});
