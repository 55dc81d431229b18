/** A long run: a hundred products, three calls each, five products at a time. */
import { DEMO_CLIENTS, type DemoRun } from '../scenario.ts';

const PRODUCTS = 100;

export const catalogue: DemoRun = {
  traceId: 'demo-catalogue-nightly-331',
  hoursAgo: 27.5,
  client: DEMO_CLIENTS.openaiPython,
  metadata: { Environment: 'demo', Feature: 'catalogue', Team: 'storefront', 'Job-Id': 'nightly-331' },
  system: 'You write and check product texts for Alder & Finch. Plain words, metric units, no superlatives.',
  nodes: [
    {
      step: 'products',
      nodes: [
        {
          step: 'product {n}',
          times: PRODUCTS,
          beside: 5,
          nodes: [
            {
              call: 'describe',
              model: 'deepseek-v4',
              ask: 'Write the text for product {n} from its data sheet: ripstop nylon, 40 denier, 1.2 kg, two colours.',
              say: 'Light ripstop nylon that forgives thorns and wind. Packs to the size of a water bottle and weighs 1.2 kg. In moss green and slate.',
              tokens: { in: 380, cached: 512, out: 140 },
            },
            {
              call: 'classify',
              model: 'gpt-5.4-mini chat',
              ask: 'Categories for product {n}? Reply as JSON.',
              say: '{"categories":["shelter","lightweight"],"confidence":0.93}',
              tokens: { in: 300, cached: 1_024, out: 30 },
            },
            {
              call: 'translate',
              model: 'gemini-3.5-flash',
              ask: 'Translate the text of product {n} to German.',
              say: 'Leichtes Ripstop-Nylon, das Dornen und Wind verzeiht. Packt sich auf die Größe einer Trinkflasche und wiegt 1,2 kg. In Moosgrün und Schiefer.',
              tokens: { in: 260, out: 110 },
            },
          ],
        },
      ],
    },
    {
      step: 'report',
      nodes: [
        {
          call: 'what changed',
          model: 'claude-haiku-4-5',
          ask: 'Summarise the night: 100 products described, classified and translated.',
          say: '100 of 100 products have new texts in two languages. Nothing needs a person.',
          tokens: { in: 2_400, out: 60 },
        },
      ],
    },
  ],
};
