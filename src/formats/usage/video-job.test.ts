import { describe, expect, test } from 'vitest';
import { NOTHING_REPORTED } from './reported-usage.ts';
import { videoJob } from './video-job.ts';

describe('a video', () => {
  test('is made later', () => {
    expect(videoJob.readJson({ id: 'v1', model: 'm', status: 'queued' }, NOTHING_REPORTED)).toEqual({
      ...NOTHING_REPORTED,
      model: 'm',
      laterResult: { id: 'v1', isFinal: false },
      terminal: true,
    });
  });

  test('says what it cost, which is kept and is no count of anything', () => {
    const body = {
      id: 'v1',
      model: 'm',
      status: 'completed',
      outputs: { cost: 0.28, video_url: 'https://example.com' },
    };
    const reported = videoJob.readJson(body, NOTHING_REPORTED);
    expect(reported.usage).toEqual({ classes: {}, reasoning: null, native: { outputs: { cost: 0.28 } } });
    expect(reported.laterResult).toEqual({ id: 'v1', isFinal: true });
  });

  test('that failed is an error', () => {
    const body = { id: 'v1', status: 'failed', error: { code: 'moderation', message: 'No.' } };
    expect(videoJob.readJson(body, NOTHING_REPORTED)).toMatchObject({
      usage: null,
      error: { type: 'moderation', message: 'No.' },
      laterResult: { isFinal: true },
    });
  });
});
