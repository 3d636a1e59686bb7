/** A credential that a syncer keeps in a Secret: what goes in comes out. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SecretCredential } from '../../../../src/cli/orrery/syncer/joinedCredential.ts'
import type { SpaceClient } from '../../../../src/client/client.ts'
import { silentLogger } from '../../../../src/client/logger.ts'
import { SteppedClock } from '../../../apiserver/flowcontrol/steppedClock.ts'
import { temporaryDir } from '../../../support/server.ts'

t.test('a server with an international name is kept as it is', async t => {
  let secret = { apiVersion: 'v1', kind: 'Secret', metadata: {}, data: {} }
  const cluster = {
    get: async () => secret,
    patch: async (_resource: unknown, _ref: unknown, _type: unknown, { data }: { data: object }) => {
      secret = { ...secret, data: { ...secret.data, ...data } }
      return secret
    },
  } as unknown as SpaceClient
  const at = (stateDir: string): SecretCredential =>
    new SecretCredential({
      cluster,
      ref: { namespace: 'syncer', name: 'credential' },
      stateDir,
      log: silentLogger,
      clock: new SteppedClock(),
      random: () => 0.5,
    })
  const first = at(temporaryDir(t))
  const key = await first.claimKey()
  await first.keep({ server: 'https://bücher.example:6443/clusters/box', token: 'the-token' } as never)
  const next = at(temporaryDir(t))
  t.equal(await next.claimKey(), key)
  t.equal(await next.isThere(), true)
  t.match(readFileSync(next.path, 'utf8'), 'https://bücher.example:6443/clusters/box')
})

t.test('of credentials that come in a row the last one stays', async t => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const secret = (version: number) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'syncer', name: 'credential', uid: 'u', resourceVersion: String(version) },
    data: { 'mailbox.kubeconfig': base64('{}'), credential: base64(`token-${version}`) },
  })
  const ended = new AbortController()
  const cluster = {
    list: async () => ({ resourceVersion: '1', items: [secret(1)] }),
    async *watch() {
      yield Array.from({ length: 40 }, (_, i) => ({ type: 'MODIFIED', object: secret(i + 2) }))
      ended.abort()
    },
  } as unknown as SpaceClient
  const stateDir = temporaryDir(t)
  const ref = { namespace: 'syncer', name: 'credential' }
  const common = { log: silentLogger, clock: new SteppedClock(), random: () => 0.5 }
  await new SecretCredential({ cluster, ref, stateDir, ...common }).follow(ended.signal)
  t.equal(readFileSync(join(stateDir, 'mailbox.credential'), 'utf8'), 'token-41')
})
