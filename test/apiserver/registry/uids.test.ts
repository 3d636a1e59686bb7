/** Uids are random UUIDs, each another. */
import t from 'tap'
import { uidMaker } from '../../../src/apiserver/registry/uids.ts'

t.test('uids are UUIDs of version 4, each another, also of several makers', async t => {
  const makers = [uidMaker(), uidMaker()]
  const seen = new Set<string>()
  for (let i = 0; i < 1000; i++) {
    const uid = makers[i % 2]!()
    if (!/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(uid)) t.fail(uid)
    seen.add(uid)
  }
  t.equal(seen.size, 1000)
})
