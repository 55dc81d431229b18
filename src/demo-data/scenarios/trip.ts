/** A run nested five steps deep, with names that need escaping. */
import { DEMO_CLIENTS, type DemoRun } from '../scenario.ts';

export const trip: DemoRun = {
  traceId: 'demo-trip-loire-17',
  hoursAgo: 19.6,
  client: DEMO_CLIENTS.openaiNode,
  metadata: { Environment: 'demo', Feature: 'trip-planner', Team: 'labs', 'User-Id': 'u-tomasz-wolny' },
  system: 'You plan cycling trips. Prefer small roads, trains that take bicycles, and places that dry wet clothes.',
  nodes: [
    {
      step: 'plan the trip',
      nodes: [
        {
          call: 'outline',
          model: 'gpt-5.4',
          ask: 'Three days along the Loire from Orléans, two people, May.',
          think: 'Day one to Blois, day two to Amboise, day three to Tours; about 60 km each.',
          say: 'Day 1 Orléans–Blois, day 2 Blois–Amboise, day 3 Amboise–Tours.',
          tokens: { in: 520, out: 460, thought: 310 },
        },
        {
          step: 'day {n}: {item}',
          items: ['Orléans – Blois', 'Blois – Amboise', 'Amboise – Tours'],
          nodes: [
            {
              call: 'route',
              model: 'gpt-5.4-mini',
              ask: 'Route for {item} on small roads.',
              say: 'About 58 km, almost all on the river path; one detour around a bridge that is being repaired.',
              tokens: { in: 410, out: 120 },
            },
            {
              step: 'lodging',
              nodes: [
                {
                  step: 'compare',
                  nodes: [
                    {
                      step: 'offers',
                      parallel: true,
                      nodes: [
                        {
                          call: 'guest house',
                          model: 'gpt-5.4-mini',
                          ask: 'Guest houses at the end of {item} with a shed for bicycles?',
                          say: 'Two, both with a shed; 84 and 96 EUR with breakfast.',
                          tokens: { in: 360, out: 44 },
                        },
                        {
                          call: 'camping',
                          model: 'gpt-5.4-mini',
                          ask: 'Camping at the end of {item}?',
                          say: 'One, by the river, 19 EUR for two with a tent.',
                          tokens: { in: 350, out: 30 },
                        },
                      ],
                    },
                    {
                      call: 'choose',
                      model: 'claude-sonnet-5',
                      ask: 'Guest house or camping after {item}, if rain is likely?',
                      say: 'The guest house for 84 EUR: there is a drying room.',
                      tokens: { in: 540, out: 48 },
                    },
                  ],
                },
              ],
            },
          ],
        },
        {
          call: 'packing list',
          model: 'claude-haiku-4-5',
          stream: true,
          leaves: true,
          ask: 'A packing list for the three days, for two.',
          say: 'Rain jackets, two inner tubes, a pump, lights, a small lock, sun cream, a warm layer each, cash for the bakery, and the train tickets from Tours. Leave the second pair of shoes at home.',
          tokens: { in: 800, out: 120 },
        },
      ],
    },
  ],
};
