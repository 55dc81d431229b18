/** Calls outside runs: what an application sends one by one. Each kind has its texts; the engine draws who and when. */
import { DEMO_CLIENTS, type DemoCall, type DemoClient } from '../scenario.ts';

export interface LooseKind {
  /** Null: sent without X-Gateway-Feature. */
  readonly feature: string | null;
  readonly team: string;
  readonly client: DemoClient;
  readonly system: string | null;
  /** How often, beside the others. */
  readonly weight: number;
  readonly model: DemoCall['model'];
  readonly tokens: DemoCall['tokens'];
  readonly texts: readonly [LooseText, ...LooseText[]];
}

export type LooseText = readonly [ask: string, say: string];

export const LOOSE_KINDS: readonly [LooseKind, ...LooseKind[]] = [
  {
    ...{ feature: 'search', team: 'discovery', client: DEMO_CLIENTS.openaiNode, weight: 30, model: 'gpt-5.4-mini' },
    system: 'Rewrite what a visitor typed as search words for the shop. Words only.',
    tokens: { in: 180, cached: 1_024, out: 18 },
    texts: [
      ['something warm for sleeping outside in november', 'sleeping bag winter, insulated mat'],
      ['present for dad who fishes', 'fishing vest, headlamp, thermos'],
      ['tent that does not flap', 'tent storm stable, guy lines'],
      ['shoes for wet grass', 'waterproof hiking shoes'],
    ],
  },
  {
    ...{
      feature: 'support',
      team: 'care',
      client: DEMO_CLIENTS.anthropicPython,
      weight: 22,
      model: 'claude-haiku-4-5',
    },
    system: 'Draft short, friendly answers to customers of Alder & Finch.',
    tokens: { in: 240, cached: 1_480, out: 110 },
    texts: [
      ['Where is my parcel 90012?', 'Hello, your parcel left Leipzig this morning and should arrive tomorrow.'],
      ['Can I wash the down jacket?', 'Yes: 30 degrees, down detergent, then tumble dry low with two tennis balls.'],
      ['I ordered the wrong size.', 'No problem. Send it back within 60 days; the label is in your account.'],
    ],
  },
  {
    ...{ feature: 'checkout', team: 'storefront', client: DEMO_CLIENTS.aiSdk, weight: 14, model: 'gpt-5.4-mini chat' },
    system: 'Say in one sentence whether the address can be delivered to.',
    tokens: { in: 210, out: 26 },
    texts: [
      ['Hafenstrasse 12, 20359 Hamburg', 'Yes, delivery within two working days.'],
      ['Postbox 7, Longyearbyen', 'Yes, by post only; please allow ten working days.'],
      ['Hut by the lake, no street', 'No, a street or a parcel station is needed.'],
    ],
  },
  {
    ...{
      feature: 'recommendations',
      team: 'discovery',
      client: DEMO_CLIENTS.genai,
      weight: 16,
      model: 'gemini-3.5-flash',
    },
    system: 'Suggest three articles that go with the one given.',
    tokens: { in: 520, out: 60 },
    texts: [
      ['two-person tent', 'Footprint, LED lantern, repair tape.'],
      ['trail running shoes', 'Merino socks, gaiters, waist pack.'],
      ['gas stove', 'Wind shield, lighter, 750 ml pot.'],
    ],
  },
  {
    ...{ feature: 'moderation', team: 'care', client: DEMO_CLIENTS.boto, weight: 10, model: 'bedrock-nova' },
    system: 'Is this review fit to be shown? Reply yes or no.',
    tokens: { in: 160, out: 4 },
    texts: [
      ['Great lamp, survived a fall down the stairs.', 'yes'],
      ['Too heavy, but warm.', 'yes'],
      ['BUY CHEAP WATCHES HERE', 'no'],
    ],
  },
  {
    ...{
      feature: 'translation',
      team: 'storefront',
      client: DEMO_CLIENTS.openaiPython,
      weight: 10,
      model: 'deepseek-v4',
    },
    system: 'Translate to French. Keep units.',
    tokens: { in: 120, cached: 128, out: 40 },
    texts: [
      ['Packs to the size of a bottle.', 'Se range dans le volume d’une bouteille.'],
      ['Dries overnight.', 'Sèche en une nuit.'],
      ['Weighs 480 g.', 'Pèse 480 g.'],
    ],
  },
  {
    ...{ feature: null, team: 'labs', client: DEMO_CLIENTS.openaiPython, weight: 14, model: 'gpt-5.4' },
    system: null,
    tokens: { in: 60, out: 300, thought: 160 },
    texts: [
      [
        'Explain fill power in two sentences.',
        'Fill power says how much room an ounce of down takes up. More room means more trapped air, and so more warmth for the weight.',
      ],
      ['A regex for German postcodes?', 'Five digits: `\\b\\d{5}\\b`. It does not say whether the postcode exists.'],
    ],
  },
];

/** The keys of metadata have no case; some program always spells one differently. */
export const SMALL_SPELLING = 'feature';

export const DEMO_PEOPLE: readonly [string, ...string[]] = [
  'u-amara-okafor',
  'u-jonas-lindqvist',
  'u-mei-tanaka',
  'u-priya-raman',
  'u-lucia-ferrante',
  'u-tomasz-wolny',
  'u-noor-haddad',
  'u-elif-demir',
  'u-henrik-moe',
  'u-sofia-reyes',
  'u-aoife-byrne',
  'u-kofi-mensah',
];
