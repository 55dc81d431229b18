import { describe, expect, test } from 'vitest';
import { EMPTY_READING } from './reading.ts';
import { videoJob } from './video-job.ts';

describe('a video', () => {
  test('is made later', () => {
    expect(videoJob.readJson({ id: 'v1', model: 'm', status: 'queued' }, EMPTY_READING)).toEqual({
      ...EMPTY_READING,
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
    const reading = videoJob.readJson(body, EMPTY_READING);
    expect(reading.usage).toEqual({ classes: {}, reasoning: null, native: { outputs: { cost: 0.28 } } });
    expect(reading.laterResult).toEqual({ id: 'v1', isFinal: true });
  });

  test('that failed is an error', () => {
    const body = { id: 'v1', status: 'failed', error: { code: 'moderation', message: 'No.' } };
    expect(videoJob.readJson(body, EMPTY_READING)).toMatchObject({
      usage: null,
      error: { type: 'moderation', message: 'No.' },
      laterResult: { isFinal: true },
    });
  });
});
