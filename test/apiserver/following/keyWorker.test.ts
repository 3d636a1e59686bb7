// A worker retries what fails, and each cause is news once; the end of the store or of the worker is none.
import t from 'tap'
import { KeyWorker } from '../../../src/apiserver/following/keyWorker.ts'
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
