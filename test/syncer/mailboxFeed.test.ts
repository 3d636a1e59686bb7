/** What the feed of a mailbox tells of the center behind it. */
import t from 'tap'
import type { Client, SpaceClient, StreamBatch, StreamOptions } from '../../src/client/client.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { MailboxFeed } from '../../src/syncer/mailboxFeed.ts'
import { SyncerState } from '../../src/syncer/syncerState.ts'
import { virtualClock } from './support/virtualClock.ts'

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
  async function* stream(_options: StreamOptions): AsyncGenerator<StreamBatch, void, void> {
    const next = streams.shift()
    if (next) yield* next
    else end.abort()
  }
  const feed: MailboxFeed = new MailboxFeed({
    client: { in: () => ({}) as SpaceClient, stream } satisfies Client,
    space: 'm',
    state: new SyncerState(undefined, silentLogger),
    logger: silentLogger,
    clock: virtualClock(0),
    onChange: () => {},
    onComplete: () => heard.push(`complete in the ${feed.heard?.epoch}`),
    onHeard: () => heard.push(`heard in the ${feed.heard?.epoch}`),
  })
  await feed.run('m', end.signal)
  t.same(heard.slice(-1), ['heard in the second life'])
  t.equal(heard.filter(one => one.startsWith('heard')).length, 2, 'each life is news once')
})
