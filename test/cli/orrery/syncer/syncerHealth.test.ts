/** A syncer's report of its state, and the command that reads it. */
import t, { type Test } from 'tap'
import type { Host } from '../../../../src/cli/orrery/host.ts'
import { healthAddress, SyncerHealth } from '../../../../src/cli/orrery/syncer/syncerHealth.ts'
import { statusLines, syncerStatus } from '../../../../src/cli/orrery/syncer/syncerStatusCommand.ts'
import { silentLogger } from '../../../../src/client/logger.ts'
import type { SyncerStatus } from '../../../../src/syncer/tells/syncerStatus.ts'
import { freePort } from '../../../syncer/support/processes.ts'

const SERVING: SyncerStatus = {
  state: 'serving',
  center: 'up',
  cluster: 'unreachable',
  protocol: 2,
  known: true,
  complete: true,
  objects: 12,
  heard: 99,
  waiting: { down: 3, status: 0, up: 1 },
  exceptions: { refused: 2 },
  refused: 2,
  kept: true,
}

async function listening(t: Test, status: () => SyncerStatus | undefined): Promise<string> {
  const address = `127.0.0.1:${await freePort()}`
  const health = await SyncerHealth.listen(address, status, silentLogger)
  t.teardown(() => health?.close())
  return address
}

const hostOf = (out: string[]): Host => ({
  out: text => void out.push(text),
  err: () => {},
  terminated: () => new Promise(() => {}),
})

t.test('alive from the start, ready once it serves or stands by, with numbers of fixed names', async t => {
  let status: SyncerStatus | undefined
  const address = await listening(t, () => status)
  const get = async (path: string, method = 'GET') => {
    const answer = await fetch(`http://${address}${path}`, { method })
    return { code: answer.status, text: await answer.text() }
  }
  t.same(await get('/healthz'), { code: 200, text: 'ok\n' })
  t.same(await get('/readyz'), { code: 503, text: 'it is starting\n' })
  t.equal((await get('/metrics')).code, 503)
  status = { ...SERVING, state: 'starting', known: false }
  t.same(await get('/readyz?verbose'), { code: 503, text: 'it is starting\nthe mailbox is not known yet\n' })
  status = { ...status, state: 'standing by' }
  t.equal((await get('/readyz')).code, 200)
  status = SERVING
  t.same(await get('/readyz'), { code: 200, text: 'ok\n' })
  const { text } = await get('/metrics')
  for (const line of [
    'orrery_syncer_connected{side="center"} 1',
    'orrery_syncer_connected{side="cluster"} 0',
    'orrery_syncer_objects 12',
    'orrery_syncer_heard_revision 99',
    'orrery_syncer_waiting{queue="down"} 3',
    'orrery_syncer_exceptions{state="refused"} 2',
    'orrery_syncer_state_kept 1',
    '# TYPE process_cpu_seconds_total counter',
  ])
    t.ok(text.includes(`${line}\n`), line)
  t.equal((await get('/')).code, 404)
  t.equal((await get('/healthz', 'POST')).code, 405)
})

t.test('the command says it in words, and by its exit code', async t => {
  let status: SyncerStatus = SERVING
  const healthAddress = await listening(t, () => status)
  const said: string[] = []
  const host = hostOf(said)
  t.equal(await syncerStatus({ healthAddress }, host), 0)
  status = { ...SERVING, known: false }
  t.equal(await syncerStatus({ healthAddress }, host), 1)
  await t.rejects(
    syncerStatus({ healthAddress: `127.0.0.1:${await freePort()}` }, host),
    /^no syncer reports its state at 127.0.0.1:\d+ \(.*\): is it running, with this --health-address\?/,
  )
  t.equal(await syncerStatus({ healthAddress, output: 'json' }, host), 1)
  t.match(said[0], /^State: {16}serving\n/)
  const document = said.find(text => text.startsWith('{'))
  t.match(JSON.parse(document!), { kind: 'SyncerStatus', state: 'serving', known: false })
})

t.test('each fact is a line', async t => {
  t.same(statusLines({ ready: true, ...SERVING }), [
    'State:                serving',
    'Center:               answers',
    'Protocol:             2',
    'Cluster:              cannot be reached',
    'Mailbox:              12 objects, known up to revision 99',
    'Waiting:              3 to the cluster, 0 statuses, 1 from the cluster',
    'Not as it should be:  2 refused',
    'Refused:              2',
    'State dir:            holds what it knows',
  ])
  t.same(
    [false, undefined].map(kept => statusLines({ ...SERVING, kept }).at(-1)),
    ['State dir:            takes nothing; see its log', 'State dir:            none'],
  )
  t.match(statusLines({ ready: false }).slice(0, 5), [
    /starting, not ready/,
    /not asked yet/,
    /not agreed yet/,
    /not asked yet/,
    /not known yet/,
  ])
  t.match(statusLines({ ...SERVING, complete: false }).slice(0, 5), [
    /not ready/,
    /./,
    /./,
    /./,
    /12 objects, as of an earlier run/,
  ])
})

t.test('an address that is none is refused; one that is taken, too, if it was asked for', async t => {
  t.same(healthAddress(':80'), { host: '::', port: 80 })
  t.same(healthAddress('[::1]:80'), { host: '::1', port: 80 })
  for (const bad of ['80', 'a:b', 'h:70000', '::1:80', '']) t.throws(() => healthAddress(bad), /--health-address/)
  const address = await listening(t, () => undefined)
  await t.rejects(
    SyncerHealth.listen(address, () => undefined, silentLogger),
    /^--health-address .* cannot be listened on/,
  )
  t.equal(await SyncerHealth.listen('none', () => undefined, silentLogger), undefined)
})

t.test('whose status it is stands there, and of two syncers a name chooses one', async t => {
  const about = (syncTarget: string) => ({
    syncTarget,
    centerServer: `https://center:6443/clusters/${syncTarget}`,
    clusterServer: `https://${syncTarget}:6443`,
  })
  t.same(statusLines({ ready: true, ...SERVING, ...about('florin') }).slice(-3), [
    'SyncTarget:           florin',
    'Center address:       https://center:6443/clusters/florin',
    'Cluster address:      https://florin:6443',
  ])
  const names = ['florin', 'guilder'].map(name => `${name}-${process.pid}`)
  for (const [i, name] of names.entries()) {
    const known = i === 0
    const health = await SyncerHealth.listen(undefined, () => ({ ...about(name), ...SERVING, known }), silentLogger)
    t.ok(health, 'the default address may be taken')
    t.teardown(() => health?.close())
  }
  const said: string[] = []
  const host = hostOf(said)
  const codes = [
    await syncerStatus({ syncTargetName: names[0] }, host),
    await syncerStatus({ syncTargetName: names[1], output: 'json' }, host),
    await syncerStatus({}, host),
  ]
  t.same(codes, [0, 1, 1])
  const [words = '', document = '', all = ''] = said
  t.match(words, `SyncTarget:           ${names[0]}\n`)
  t.notMatch(words, names[1])
  t.match(JSON.parse(document), { kind: 'SyncerStatus', syncTarget: names[1] })
  for (const name of names) t.match(all, `SyncTarget:           ${name}\n`)
  await t.rejects(syncerStatus({ syncTargetName: 'ducat' }, host), new RegExp(`"ducat" answers.*${names.join('.*')}`))
})
