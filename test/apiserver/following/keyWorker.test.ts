// A worker retries what fails, and each cause is news once; the end of the store or of the worker is none.
import t from 'tap'
import { KeyWorker } from '../../../src/apiserver/following/keyWorker.ts'
import type { KeyGuard } from '../../../src/client/setAside/keyGuard.ts'
import { StorageError } from '../../../src/storage/store.ts'
import { FakeClock, settle } from '../../client/support/fakeClock.ts'
import { timeBy } from '../../support/time.ts'

const NO_NEED = 'no need'

t.test('each cause is news once, and a success after it too', async t => {
  const clock = new FakeClock()
  const fates: (Error | undefined)[] = []
  const news: string[] = []
  const worker = new KeyWorker<string>(
    {
      id: key => key,
      async reconcile() {
        const fate = fates.shift()
        if (fate) throw fate
      },
      isEnd: error => (error as Error).message === NO_NEED,
      failed: (key, error) => void news.push(`${key}: ${(error as Error).message}`),
      healed: key => void news.push(`${key} is well`),
    },
    timeBy(clock),
  )
  worker.start()
  t.teardown(() => worker.stop())
  const meets = async (...next: (Error | undefined)[]): Promise<string[]> => {
    fates.push(...next)
    worker.add('a')
    await settle()
    for (let i = 1; i < next.length; i++) await clock.advance(60_000)
    t.same(fates, [], 'all tries were made')
    return news.splice(0)
  }

  t.same(await meets(undefined), [], 'work that never failed is not news')
  t.same(await meets(new Error('disk'), new Error('disk'), new Error('net'), undefined), [
    'a: disk',
    'a: net',
    'a is well',
  ])
  t.same(await meets(new Error('disk'), new Error(NO_NEED)), ['a: disk', 'a is well'], 'nothing is left to do')
  t.same(await meets(new StorageError('Closed', 'the store is closed')), [], 'the store ends')

  await worker.stop()
  fates.push(new Error('disk'))
  worker.add('a')
  await clock.advance(60_000)
  t.equal(fates.length, 1)
  await worker.note('a', new Error('late'))
  t.same(news, [], 'after its end it neither works nor tells')
})

t.test('its keys have the turns, the places and the guard that it names', async t => {
  const clock = new FakeClock()
  const begun: string[] = []
  const guarded: string[] = []
  const guard: KeyGuard = {
    holds: () => undefined,
    begin: id => guarded.push(id),
    end() {},
    intake: () => ({ ticket: 0, isCareful: false }),
  }
  const worker = new KeyWorker<string>(
    {
      id: key => key,
      party: key => key[0]!,
      lane: key => ({ owner: key.at(-1)! }),
      concurrency: 2,
      // hangs
      reconcile: key => new Promise(() => begun.push(key)),
      failed() {},
    },
    { ...timeBy(clock), guard },
  )
  for (const key of ['a1x', 'a2x', 'a3x', 'a4y']) worker.add(key)
  worker.start()
  await settle()
  t.same(begun, ['a1x', 'a4y'], 'two at a time, of two owners')
  await clock.advance(1000)
  t.same(begun, ['a1x', 'a4y', 'a2x', 'a3x'], 'what is slow of a party takes no place')
  t.same(guarded, begun)
})
