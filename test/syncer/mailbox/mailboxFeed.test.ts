/** Reports of a mailbox's feed about the center behind it. */
import { cpSync, mkdirSync } from 'node:fs'
import t from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { Client, SpaceClient, StreamBatch, StreamEvent, StreamOptions } from '../../../src/client/client.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { MailboxFeed } from '../../../src/syncer/mailbox/mailboxFeed.ts'
import { SyncerState } from '../../../src/syncer/mailbox/syncerState.ts'
import { timeBy } from '../../support/time.ts'
import { virtualClock } from '../support/virtualClock.ts'

const batch = (revision: number, epoch: string, more: Partial<StreamBatch> = {}): StreamBatch => ({
  events: [],
  revision,
  synced: false,
  epoch,
  ...more,
})

t.test('a center that was started again is heard at once, although nothing changed in the mailbox', async t => {
  const end = new AbortController()
  const streams: StreamBatch[][] = [
    [batch(7, 'first life', { synced: true })],
    [batch(7, 'first life')],
    [batch(7, 'second life')],
  ]
  const heard: string[] = []
  const sessions = new Set<string | undefined>()
  async function* stream({ session }: StreamOptions): AsyncGenerator<StreamBatch, void, void> {
    sessions.add(session)
    const next = streams.shift()
    if (next) yield* next
    else end.abort()
  }
  const feed: MailboxFeed = new MailboxFeed({
    client: { in: () => ({}) as SpaceClient, stream } satisfies Client,
    space: 'm',
    session: 's',
    state: new SyncerState(undefined, silentLogger),
    logger: silentLogger,
    ...timeBy(virtualClock(0)),
    onChange: () => {},
    onComplete: () => heard.push(`complete in the ${feed.position?.epoch}`),
    onProgress: () => heard.push(`heard in the ${feed.position?.epoch}`),
  })
  await feed.run('m', end.signal)
  t.same(heard.slice(-1), ['heard in the second life'])
  t.equal(heard.filter(one => one.startsWith('heard')).length, 2, 'each life is news once')
  t.same([...sessions], ['s'], 'each stream says whose reports it keeps alive')
})

t.test('after days away only what changed is sent; a state that does not fit is read anew', async t => {
  const dir = t.testdir()
  const maps = { group: '', version: 'v1', resource: 'configmaps' }
  const object = (name: string, resourceVersion: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'n', resourceVersion },
  })
  const event = (name: string, revision: number, isKnown: boolean): StreamEvent => ({
    type: 'ADDED',
    space: 'm',
    resource: maps,
    namespace: 'n',
    name,
    revision,
    isKnown,
    get object(): KubeObject {
      if (isKnown) throw new Error('it was not sent')
      return object(name, `${revision}`)
    },
    mentions: () => false,
  })
  const before = new SyncerState(dir, silentLogger)
  before.mirror.restore(['stays', 'changes', 'goes'].map(name => ({ resource: maps, object: object(name, '3') })))
  await before.save({ mailbox: 'm', space: 'm', cursor: 5, epoch: 'e' })
  await before.close()

  const snapshot = (revision: number) => [event('stays', revision, true), event('changes', 8, false)]
  for (const { of, sent, asked, found } of [
    {
      of: 'the state fits',
      sent: [snapshot(3)],
      asked: [
        { after: 5, epoch: 'e' },
        { known: 5, epoch: 'e' },
      ],
      found: '3',
    },
    {
      of: 'it does not',
      sent: [snapshot(4), [event('stays', 4, false), event('changes', 8, false)]],
      asked: [{ after: 5, epoch: 'e' }, { known: 5, epoch: 'e' }, {}],
      found: '4',
    },
  ]) {
    const copy = `${dir}/${sent.length}`
    mkdirSync(copy)
    cpSync(`${dir}/mailbox`, `${copy}/mailbox`, { recursive: true })
    const state = new SyncerState(copy, silentLogger)
    const end = new AbortController()
    const questions: object[] = []
    const snapshots = [...sent]
    async function* stream({ after, known, epoch }: StreamOptions): AsyncGenerator<StreamBatch, void, void> {
      questions.push({ ...(after && { after }), ...(known && { known }), ...(epoch && { epoch }) })
      if (after === 5) throw new StatusError('Expired', 'too old')
      const events = snapshots.shift()
      if (events === undefined) return end.abort()
      yield { events, revision: 9, synced: false }
      yield batch(9, 'e', { synced: true })
      if (snapshots.length === 0) end.abort()
    }
    const gone: string[] = []
    const feed: MailboxFeed = new MailboxFeed({
      client: { in: () => ({}) as SpaceClient, stream } satisfies Client,
      space: 'm',
      state,
      logger: silentLogger,
      ...timeBy(virtualClock(0)),
      onChange: change => change.object === undefined && gone.push(change.key.name),
      onComplete: () => {},
    })
    t.ok(await feed.restore('m'))
    await feed.run('m', end.signal)
    await feed.close()
    t.same(questions, asked, of)
    t.same(
      [...state.mirror.values()].map(({ object: { metadata } }) => [metadata.name, metadata.resourceVersion]).sort(),
      [
        ['changes', '8'],
        ['stays', found],
      ],
    )
    t.same(gone, ['goes'])
  }
})
