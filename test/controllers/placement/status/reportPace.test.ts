import t from 'tap'
import { ReportPace } from '../../../../src/controllers/placement/status/reportPace.ts'

t.test('some looks come soon after a quiet time, then one a second', async t => {
  const pace = new ReportPace()
  let now = 1_000_000
  const waits: number[] = []
  const look = () => {
    const waitMs = pace.waitMs('w ep', now)
    waits.push(waitMs)
    now += waitMs
    pace.looked('w ep', now)
  }
  for (let i = 0; i < 14; i++) look()
  t.same(waits.slice(0, 8), [0, 250, 250, 250, 250, 250, 250, 250])
  t.same(waits.slice(12), [1000, 1000])
  t.equal(pace.waitMs('other', now), 0, 'each has its own')
  now += 60_000
  waits.length = 0
  for (let i = 0; i < 8; i++) look()
  t.same(waits, [0, 250, 250, 250, 250, 250, 250, 250])
  pace.forget('w ep')
  t.equal(pace.waitMs('w ep', now), 0)
})

t.test('hundreds of one space that change all the time take turns, and other spaces do not wait for them', async t => {
  const pace = new ReportPace()
  const all = Array.from({ length: 300 }, (_, i) => `w ep${i}`)
  let now = 1_000_000
  for (const id of all) pace.looked(id, now)
  const end = now + 20_000
  let looks = 0
  for (; now < end; now += 10) {
    for (const id of all) {
      if (pace.waitMs(id, now) > 0) continue
      pace.looked(id, now)
      looks++
    }
  }
  t.ok(looks > 900 && looks <= 1050, `${looks} looks: at most 50 at once, and 50 a second`)
  t.equal(pace.waitMs('other ep', now), 0)
})

t.test('a placement that is deleted gives the others of its space no new turns', async t => {
  const pace = new ReportPace()
  const now = 1_000_000
  const all = Array.from({ length: 60 }, (_, i) => `w ep${i}`)
  for (const id of all) pace.looked(id, now)
  const later = now + 10_000
  for (const id of all.slice(1)) pace.waitMs(id, later)
  pace.forget(all[5]!)
  t.ok(pace.waitMs(all[0]!, later) > 0)
})
