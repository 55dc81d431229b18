/** A run with a model that no price book knows: its cost is "at least". */
import { DEMO_CLIENTS, type DemoRun } from '../scenario.ts';

export const reviews: DemoRun = {
  traceId: 'demo-reviews-tent-2p',
  hoursAgo: 11.7,
  client: DEMO_CLIENTS.openaiPython,
  metadata: { Environment: 'demo', Feature: 'reviews', Team: 'discovery', 'User-Id': 'u-lucia-ferrante' },
  system: 'You condense customer reviews for product pages. Never invent a quote.',
  nodes: [
    {
      step: 'rate',
      nodes: [
        {
          step: 'batch {n}',
          times: 4,
          beside: 4,
          nodes: [
            {
              call: 'sentiment',
              model: 'own-tuned',
              ask: 'Rate reviews batch {n} for TENT-2P-GRN: "Stood up to a storm." / "Poles are stiff when cold." / "Pitches in five minutes."',
              say: '{"positive":2,"mixed":1,"negative":0}',
              tokens: { in: 740, out: 26 },
            },
          ],
        },
      ],
    },
    {
      step: 'summarise',
      nodes: [
        {
          call: 'summary',
          model: 'deepseek-v4',
          stream: true,
          ask: 'Write the summary of 112 reviews for the product page, at most 60 words.',
          think: 'Two themes: stability in wind, and stiff poles below zero.',
          say: 'Praised for standing firm in wind and for pitching in minutes. Several owners find the poles stiff below zero; warming them in a jacket helps. Weight and pack size are as promised.',
          tokens: { in: 1_900, cached: 1_536, out: 260, thought: 180 },
        },
      ],
    },
  ],
};
