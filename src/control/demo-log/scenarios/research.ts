/** A research run: a plan, parallel searches over several providers, a report. */
import { DEMO_CLIENTS, type DemoRun } from '../scenario.ts';

export const research: DemoRun = {
  traceId: 'demo-research-0093',
  hoursAgo: 8.1,
  client: DEMO_CLIENTS.genai,
  metadata: { Environment: 'demo', Feature: 'search', Team: 'discovery', 'User-Id': 'u-mei-tanaka' },
  system: 'You research questions for the buyers of Alder & Finch. Name your sources and say what is uncertain.',
  nodes: [
    {
      step: 'plan',
      nodes: [
        {
          call: 'split the question',
          model: 'gpt-5.4',
          ask: 'Which insulation will replace down in jackets over the next three years, and what does it cost?',
          think:
            'I need the candidates first, then price per square metre, then who produces at scale, then recycling rules.',
          say: '1. aerogel felts\n2. recycled polyester loft\n3. kapok blends\n4. wool and lyocell\n5. graphene-coated fibres\n6. rules on recycled content',
          tokens: { in: 820, out: 900, thought: 640 },
        },
      ],
    },
    {
      step: 'search',
      nodes: [
        {
          step: 'search {n}',
          items: [
            'aerogel felts',
            'recycled polyester loft',
            'kapok blends',
            'wool and lyocell',
            'graphene-coated fibres',
            'rules on recycled content',
          ],
          beside: 3,
          nodes: [
            {
              call: 'find sources',
              model: 'gemini-3.5-flash',
              ask: 'List recent sources about {item} as insulation in clothing.',
              say: 'Found 5 sources about {item}: two test reports, a price list, a paper and an interview with a mill.',
              tokens: { in: 1_300, out: 240 },
            },
            {
              call: 'read and take notes',
              model: 'gemini-3.5-flash',
              stream: true,
              ask: 'Read the sources about {item} and note warmth, weight, price and who can deliver.',
              say: 'Notes on {item}: warmth per gram is between synthetic loft and down; prices vary between 7 and 19 EUR per square metre; two mills deliver at scale, lead time about ten weeks.',
              tokens: { in: 14_200, out: 520, thought: 130 },
            },
            {
              call: 'is it enough',
              model: 'deepseek-v4',
              ask: 'Do these notes about {item} answer price, warmth and supply? Reply yes or no with a reason.',
              say: 'Yes. Prices come from two independent lists.',
              tokens: { in: 620, cached: 384, out: 40 },
            },
          ],
        },
      ],
    },
    {
      step: 'report',
      nodes: [
        {
          call: 'write',
          model: 'gemini-3.1-pro',
          stream: true,
          ask: 'Write the report for the buyers from all notes.',
          think: 'Kapok blends are the only ones with price and supply settled; aerogel stays niche.',
          say: '# Insulation after down\n\n| Material | Price per m² | Supply |\n|---|---|---|\n| Recycled loft | 7 EUR | at scale |\n| Kapok blend | 11 EUR | two mills |\n| Aerogel felt | 19 EUR | samples |\n\n**Recommendation:** order kapok blends for the spring range, watch aerogel. Uncertain: the rules on recycled content are still a draft.',
          tokens: { in: 11_800, out: 2_100, thought: 1_250 },
        },
        {
          call: 'check the numbers',
          model: 'gpt-5.4-mini',
          ask: 'Compare every number in the report with the notes and list differences.',
          say: 'No differences.',
          tokens: { in: 6_900, out: 60 },
        },
      ],
    },
  ],
};
