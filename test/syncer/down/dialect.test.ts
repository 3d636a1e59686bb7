/** A newer center and an older cluster: fields unknown to the cluster are left out, reported once, and the rest arrives. */
import t from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import { nearestVersion } from '../../../src/apimachinery/nearestVersion.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { Dialect, undeclaredFields, withoutFields } from '../../../src/syncer/down/dialect.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'
import { recordingLogger } from '../support/recordingLogger.ts'

const refusal = (...paths: string[]) =>
  new StatusError(
    'InternalError',
    `failed to create typed patch object: ${paths.map(p => `${p}: field not declared in schema`).join('\n  ')}`,
  )
const JOBS = { group: 'batch', version: 'v1', resource: 'jobs' }
const job = (): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'j' },
  spec: {
    suspend: false,
    completionMode: 'NonIndexed',
    parallelism: 1,
    containers: [
      { name: 'a.b', x: 1 },
      { name: 'c', x: 2, y: 3 },
    ],
  },
})

t.test('paths are read from the words of the API server', async t => {
  t.same(undeclaredFields(refusal('.spec.suspend', '.spec.containers[name="a.b]"].x')), [
    '.spec.suspend',
    '.spec.containers[].x',
  ])
  t.same(undeclaredFields(refusal('.spec.ports[port=80,protocol="TCP"].appProtocol')), ['.spec.ports[].appProtocol'])
  t.same(undeclaredFields(new StatusError('Invalid', 'spec.selector: field is immutable')), [])
  t.same(undeclaredFields(new Error('x')), [])
})

t.test('fields are left out wherever they are, and paths that lead nowhere do no harm', async t => {
  const copy = withoutFields(job(), [
    '.spec.suspend',
    '.spec.containers[].x',
    '.spec.nothing.here',
    '.spec.parallelism[].x',
    '.spec'.slice(0, 0),
  ])
  t.same(copy.spec, {
    completionMode: 'NonIndexed',
    parallelism: 1,
    containers: [{ name: 'a.b' }, { name: 'c', y: 3 }],
  })
  t.same(job().spec, job().spec)
})

t.test('a cluster that names one unknown field at a time is served, and the next object needs one request', async t => {
  const { logger, lines } = recordingLogger()
  const dialect = new Dialect({ logger, clock: new FakeClock() })
  let requests = 0
  const apply = async (body: KubeObject): Promise<KubeObject> => {
    requests++
    for (const field of ['suspend', 'completionMode'])
      if (field in (body.spec as object)) throw refusal(`.spec.${field}`)
    return body
  }
  const result = await dialect.speak(JOBS, job(), apply)
  t.same(Object.keys(result.spec as object), ['parallelism', 'containers'])
  t.equal(requests, 3)
  await dialect.speak(JOBS, job(), apply)
  t.equal(requests, 4)
  t.equal(lines.length, 2, 'each field is told once')
})

t.test('other refusals pass through, and a server that is never content is not asked for ever', async t => {
  const dialect = new Dialect({ logger: recordingLogger().logger, clock: new FakeClock() })
  await t.rejects(
    dialect.speak(JOBS, job(), async () => Promise.reject(refusal('.spec.same'))),
    /not declared/,
  )
  await t.rejects(
    dialect.speak(JOBS, job(), async () => Promise.reject(new StatusError('Invalid', 'no'))),
    /no/,
  )
})

t.test('the version of a kind that a cluster serves and that is most like the center’s', async t => {
  t.equal(nearestVersion('v2', ['v1', 'v2beta1', 'v2beta2']), 'v2beta2')
  t.equal(nearestVersion('v1', ['v1beta1', 'v2alpha1']), 'v1beta1')
  t.equal(nearestVersion('v1', ['v2', 'v1']), 'v1')
  t.equal(nearestVersion('v3', ['v1beta1', 'v1', 'odd']), 'v1')
  t.equal(nearestVersion('v1', []), undefined)
})

const said = (message: string) => undeclaredFields(new StatusError('InternalError', message))

t.test('the fields that a cluster does not declare are found in its words, items as such', async t => {
  const intro = 'failed to create typed patch object (default/a; apps/v1, Kind=Deployment): '
  t.same(said(`${intro}.spec.template.spec.hostUsers: field not declared in schema`), ['.spec.template.spec.hostUsers'])
  t.same(
    said(
      `${intro}errors:\n  .spec.template.spec.containers[name="a]b.c"].resizePolicy: field not declared in schema\n` +
        '  .spec.ports[port=80,protocol="TCP"].appProtocol: field not declared in schema\n' +
        '  .spec.template.metadata.labels: field not declared in schema',
    ),
    ['.spec.template.spec.containers[].resizePolicy', '.spec.ports[].appProtocol', '.spec.template.metadata.labels'],
  )
  t.same(said('.spec.a: expected string, got &value.valueUnstructured{Value:1}'), [])
  t.same(said(': field not declared in schema'), [])
  t.same(undeclaredFields(new Error('.spec.a: field not declared in schema')), [])
})

t.test('what a cluster says at any length is read once', async t => {
  for (const text of ['.', '.a', '.[', '.["', '.["a.[', '["]."'])
    t.same(said(text.repeat(4_000_000 / text.length)), [], text)
  t.equal(said('.a[b]: field not declared in schema\n'.repeat(100_000)).length, 7281)
})
