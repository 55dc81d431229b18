/** The steps of a call in order, each in the file of that name; timed where the operator asks for it. */
import { readCaller } from '../sockets/read-caller.ts';
import { admit } from './admit.ts';
import { requireAllowedModel } from './allowed-model.ts';
import type { Answer } from './answer.ts';
import { authenticate } from './authenticate.ts';
import { forward } from './forward.ts';
import { splitGatewayHeaders } from './gateway-headers.ts';
import { addKeptCredential } from './kept-credentials.ts';
import { takePlace } from './limits/take-place.ts';
import { refusePaused } from './pauses.ts';
import { prepareBody } from './prepare-body.ts';
import { receiveBody } from './receive-body.ts';
import { recordBegin, recordEnd } from './record.ts';
import { release } from './release.ts';
import { reserve } from './reserve.ts';
import { chooseRoute } from './route.ts';
import { sign } from './sign.ts';
import type { StepTimes } from './step-times.ts';
import { validateRequest } from './validate-request.ts';

export type CallSteps = ReturnType<typeof createCallSteps>;

export function createCallSteps(times: StepTimes | null) {
  function timed<A extends readonly unknown[], R>(name: string, step: (...args: A) => R): (...args: A) => R {
    return times === null ? step : times.timed(name, step);
  }
  return {
    validateRequest: timed('validate-request', validateRequest),
    readCaller: timed('read-caller', readCaller),
    splitGatewayHeaders: timed('gateway-headers', splitGatewayHeaders),
    authenticate: timed('authenticate', authenticate),
    chooseRoute: timed('route', chooseRoute),
    admit: timed('admit', admit),
    receiveBody: timed('receive-body', receiveBody),
    requireAllowedModel: timed('allowed-model', requireAllowedModel),
    prepareBody: timed('prepare-body', prepareBody),
    refusePaused: timed('pauses', refusePaused),
    takePlace: timed('take-place', takePlace),
    sign: timed('sign', sign),
    addKeptCredential: timed('kept-credentials', addKeptCredential),
    reserve: timed('reserve', reserve),
    recordBegin: timed('record-begin', recordBegin),
    forward: timed('forward', forward),
    answer: timed('answer', ({ ended }: Answer) => ended),
    recordEnd: timed('record-end', recordEnd),
    release: timed('release', release),
  };
}
