/** `orrery store get` and `store delete`, as an operator meets them whose server does not come up. */
import { join } from 'node:path'
import t from 'tap'
import { openLevelStore } from '../../../../src/storage/level/openLevelStore.ts'
import { create, key } from '../../../storage/support.ts'
import { CenterProcess } from '../../../support/centerProcess.ts'
import { orreryHere } from '../../../support/runHere.ts'
import { MAPS, NAMESPACES } from '../../../support/scene.ts'

const store = (dataDir: string, command: string, ...flags: readonly string[]) =>
  orreryHere('store', command, '--data-dir', dataDir, ...flags)

t.test('one object is found by what is clear of it, and deleted by an entry of the log', async t => {
  const dataDir = t.testdir()
  const path = join(dataDir, 'store')
  t.match(await store(dataDir, 'get', '--resource', 'deployments', '--name', 'a'), {
    code: 1,
    err: /^orrery store get: there is no store in /,
  })
  const first = await openLevelStore({ path })
  const others = [key('a', { space: 's2' }), key('a', { group: 'extensions' }), key('c', { namespace: 'n2' })]
  await create(first, key('a'), key('b'), key('c'), ...others)
  await first.close()

  const only = await store(dataDir, 'get', '--resource', 'deployments', '--name', 'b')
  t.equal(only.code, 0)
  t.match(JSON.parse(only.out), { data: 'b', metadata: { resourceVersion: '2' } })
  t.match(await store(dataDir, 'get', '--resource', 'deployments', '--name', 'a'), {
    code: 1,
    err: 'orrery store get: deployments a is ambiguous, say which with --space, --namespace and the group in --resource: deployments.apps default/a of space s1; ',
  })
  t.match(await store(dataDir, 'get', '--resource', 'deployments.apps', '--space', 's2', '--name', 'a'), { code: 0 })
  t.match(await store(dataDir, 'get', '--resource', 'deployments', '--namespace', 'n2', '--name', 'c'), { code: 0 })
  t.match(await store(dataDir, 'get', '--key', 's2/apps/deployments/default/a'), { code: 0, out: '"data": "a"' })
  for (const [flags, err] of [
    [['--resource', 'deployments', '--name', 'x'], 'there is no deployments x'],
    [['--space', 's2', '--resource', 'deployments', '--name', 'b'], 'there is no deployments b in space s2; there is'],
    [['--space', 'root:gone', '--resource', 'deployments', '--name', 'b'], 'there is no space "root:gone"; give its'],
    [['--resource', 'deployments'], '--resource and --name are required, or --key'],
    [['--key', 's1/a'], '--key "s1/a" is not <space>/<group>/<resource>/<namespace>/<name>'],
    [['--key', 's1/a/b/c/d', '--name', 'b'], '--key says all, leave out --space'],
  ] as const)
    t.match(await store(dataDir, 'delete', ...flags), { code: 1, out: /^$/, err })

  t.match(await store(dataDir, 'delete', '--key', 's1/apps/deployments/default/a'), {
    code: 0,
    out: 'deleted deployments.apps default/a of space s1: it was of revision 1, and is gone with 7\n',
    err: /^$/,
  })
  t.match(await store(dataDir, 'delete', '--key', 's1/apps/deployments/default/a'), { code: 1, err: 'there is no' })
  t.match(await store(dataDir, 'verify'), { code: 0, out: 'intact: 5 objects and 7 log entries, up to revision 7' })
})

t.test('a running server is left alone; a watcher resumes behind the deletion', async t => {
  const center = new CenterProcess(t)
  await center.start()
  const id = await center.space('lab')
  const api = center.client.in(id)
  await api.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'app' } })
  const finalizers = ['example.org/never']
  const metadata = { name: 'poison', namespace: 'app', finalizers }
  const made = await api.create(MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } })
  const which = ['--space', 'root:lab', '--resource', 'configmaps', '--namespace', 'app', '--name', 'poison']
  t.match(await store(center.dataDir, 'delete', ...which), { code: 1, err: /is in use by another process: stop/ })
  await center.disconnect()
  await center.kill()

  const got = await store(center.dataDir, 'get', ...which)
  t.match(JSON.parse(got.out), { metadata: { name: 'poison', finalizers }, data: { a: 'b' } })
  t.match(await store(center.dataDir, 'delete', ...which), {
    code: 0,
    out: `deleted configmaps app/poison of space root:lab (${id}): `,
  })
  t.match(
    await store(center.dataDir, 'delete', '--space', id, '--resource', 'namespaces', '--name', 'app', '-o', 'yaml'),
    {
      code: 0,
      out: /^---\napiVersion: v1\nkind: Namespace\n/,
      err: /^deleted namespaces app of space .*\nnote: what is in the Namespace stays; make it again/,
    },
  )
  await center.start()
  t.equal(center.world.get(id, 'configmaps app/poison'), undefined)
  const stop = new AbortController()
  const after = Number(made.metadata.resourceVersion)
  for await (const { events } of center.client.stream({ space: id, resources: [MAPS], after, signal: stop.signal })) {
    const told = events.find(({ name }) => name === 'poison')
    if (!told) continue
    t.match(told, { type: 'DELETED', object: { metadata: { uid: made.metadata.uid! }, data: { a: 'b' } } })
    t.ok(told.revision > after)
    stop.abort()
  }
})
