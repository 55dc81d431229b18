import { describe, expect, it } from 'vitest';
import { describeDeclared, readDeclarations } from './import-declarations.ts';

const OVERRIDE =
  '{"kind":"override","id":7,"created_at":"2026-11-28T12:00:00.000Z","provider":"together","provider_alias":null,"valid_from":null,"valid_to":null,"note":null,"match":"exact","model":"acme/sparrow-7b","service_tier":"standard","over_tokens":null,"up_to_tokens":null,"rates":{"input":"0.6","output":"1.2"}}';
const MULTIPLIER =
  '{"kind":"multiplier","id":8,"created_at":"2026-11-28T12:00:00.000Z","provider":"openai","provider_alias":"eu","valid_from":"2026-12-01T00:00:00.000Z","valid_to":null,"note":"contract","factor":"0.85"}';

describe('a file of declared prices', () => {
  it('is what the list prints, without what only the list has', () => {
    expect(readDeclarations(`${OVERRIDE}\n${MULTIPLIER}\n`)).toEqual([
      {
        kind: 'override',
        body: {
          provider: 'together',
          provider_alias: null,
          valid_from: null,
          valid_to: null,
          note: null,
          match: 'exact',
          model: 'acme/sparrow-7b',
          service_tier: 'standard',
          over_tokens: null,
          up_to_tokens: null,
          rates: { input: '0.6', output: '1.2' },
        },
      },
      {
        kind: 'multiplier',
        body: {
          provider: 'openai',
          provider_alias: 'eu',
          valid_from: '2026-12-01T00:00:00.000Z',
          valid_to: null,
          note: 'contract',
          factor: '0.85',
        },
      },
    ]);
  });

  it('may be one object with three lists', () => {
    const mapping = { provider: 'bedrock', match: 'prefix', model: 'arn:a', billing_model: 'm' };
    expect(readDeclarations(JSON.stringify({ mappings: [mapping] }))).toEqual([{ kind: 'mapping', body: mapping }]);
  });

  it('is told from a catalog and from anything else', () => {
    for (const text of [
      '',
      '{}',
      '[]',
      '[{"id":"openai","models":[]}]',
      'hello',
      `${OVERRIDE}\nhello`,
      '{"kind":"other"}',
    ])
      expect([text, readDeclarations(text)]).toEqual([text, null]);
  });

  it('is shown line by line, harmless for a terminal', () => {
    expect(readDeclarations(`${OVERRIDE}\n${MULTIPLIER}`)?.map(describeDeclared)).toEqual([
      'override together acme/sparrow-7b {"input":"0.6","output":"1.2"} (standard)',
      'multiplier openai × 0.85 (eu, 2026-12-01T00:00:00.000Z)',
    ]);
    const mapping = { provider: 'bedrock', match: 'prefix', model: 'arn:\u001b[2J', billing_model: 'm' };
    expect(describeDeclared({ kind: 'mapping', body: mapping })).toBe('mapping bedrock arn:\\x1b[2J* -> m');
  });
});
