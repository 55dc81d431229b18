import { expect, test } from 'vitest';
import { refuseOtherRelease } from './same-release.ts';

test('processes of another patch may follow, those of another release not', () => {
  refuseOtherRelease('0.2.0', '0.2.7');
  for (const installed of ['0.3.0', '1.2.0', '0.1.9'])
    expect(() => refuseOtherRelease('0.2.0', installed)).toThrow(
      `version ${installed} is installed and 0.2.0 runs: stop the gateway and start it again`,
    );
});
