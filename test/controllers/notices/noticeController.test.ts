/** Events of the center reach the receivers that sinks of their space name: each once where it can be, and none where it may not. */
import t from 'tap'
import { conditionOf } from '../../../src/apimachinery/conditions.ts'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import type { GroupVersionResource, KubeObject } from '../../../src/apimachinery/object.ts'
import { embeddedClient } from '../../../src/apiserver/embedded/embeddedClient.ts'
import { backoffMs } from '../../../src/client/backoff.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import type { Logger } from '../../../src/client/logger.ts'
import { EventRecorder } from '../../../src/controllers/eventRecorder.ts'
import { NOTICE_CONTROLLER, RETRY, startNoticeController } from '../../../src/controllers/notices/noticeController.ts'
import { MAX_WAITING } from '../../../src/controllers/notices/noticeSinks.ts'
import type { NoticeFigures } from '../../../src/placement/desks/carryFigures.ts'
import { NOTICE_SINKS } from '../../../src/placement/words/placement.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'
import { createSpace, ON_MAIN_THREAD, startTestServer, WEBHOOKS_HERE } from '../../support/server.ts'
import { timeBy } from '../../support/time.ts'
import { World } from '../../support/world.ts'
import { startReceiver } from './receiver.ts'

const EVENTS: GroupVersionResource = { group: '', version: 'v1', resource: 'events' }
const SECRETS: GroupVersionResource = { group: '', version: 'v1', resource: 'secrets' }
const GREETING = 'NoticeSinkReady'

const { api, server } = await startTestServer(t, { more: { ...ON_MAIN_THREAD.more, ...WEBHOOKS_HERE.more } })
const clientOf = (component: string) => embeddedClient({ ...server, component })
const translator = clientOf('placement-translator')
const user = clientOf('somebody')
const [shop, depot] = [await createSpace(api, 'shop'), await createSpace(api, 'depot')]
const receiver = await startReceiver(t)
const clock = new FakeClock()
const recorder = new EventRecorder({ client: translator, clock })
const logged: string[] = []
const log = (fields: object, text: string): void => void logged.push(`${text} ${JSON.stringify(fields)}`)
const logger: Logger = { debug: log, info: log, warn: log, error: log }
let figures: NoticeFigures | undefined

const showNotices = (shown: NoticeFigures | undefined): void => {
  figures = shown
}

let running = begin()
t.teardown(() => running.stop())
const world = new World(user)
t.teardown(() => world.stop())
await world.synced

/** So many further writes of a status are refused. */
let refusals = 0

function refusing(api: SpaceClient): SpaceClient {
  const patch = api.patch.bind(api)
  api.patch = async (...sent) => {
    if (refusals-- > 0) throw new StatusError('Conflict', 'somebody else was quicker')
    return await patch(...sent)
  }
  return api
}

function begin() {
  const own = clientOf(NOTICE_CONTROLLER)
  return startNoticeController({
    ...timeBy(clock),
    client: { ...own, in: space => refusing(own.in(space)) },
    places: server.tree,
    post: server.desks.postNotice,
    figures: { ...server.desks.figures, showNotices },
    logger,
  })
}

const { caBundle } = receiver
const spec = (path: string, more: object = {}) => ({ url: `${receiver.url}${path}`, caBundle, ...more })

async function sink(space: string, name: string, wanted: object): Promise<KubeObject> {
  const object = { apiVersion: 'edge.kubestellar.io/v1alpha1', kind: 'NoticeSink', metadata: { name }, spec: wanted }
  return await user.in(space).create(NOTICE_SINKS, object)
}

/** Waits for the status to say so. */
const says = (space: string, name: string, reason: string, holds: (status: Status) => boolean = () => true) =>
  world.present(space, `noticesinks.edge.kubestellar.io ${name}`, object => {
    const found = conditionOf(object, 'Delivered')
    return found?.reason === reason && holds(object.status as Status)
  })
interface Status {
  delivered: number
  dropped: number
  lastDeliveredTime: string
  lastResourceVersion: string
}

const placement = (name: string): KubeObject => ({
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'EdgePlacement',
  metadata: { name, uid: `uid-of-${name}` },
})

let made = 0
/** An Event as the center's controllers write them. */
async function event(
  space: string,
  reason: string,
  { kind = 'EdgePlacement', component = 'placement-translator' } = {},
) {
  const name = `e${++made}`
  const object = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace: 'default', name },
    involvedObject: { apiVersion: 'edge.kubestellar.io/v2alpha1', kind, name: 'web', uid: 'u' },
    ...{ type: 'Warning', reason, message: `message of ${reason}`, source: { component }, count: 1 },
  }
  return await translator.in(space).create(EVENTS, object as KubeObject)
}

/** The sink is gone, and nothing of it goes on. */
async function removed(space: string, name: string): Promise<void> {
  await user.in(space).delete(NOTICE_SINKS, { name })
}

t.test('a CloudEvent goes to the sinks of its space alone, behind a greeting', async t => {
  await user.in(shop).create(SECRETS, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'default', name: 'token' },
    data: { token: Buffer.from('s3cret-token\n').toString('base64') },
  } as KubeObject)
  const tokenSecretRef = { namespace: 'default', name: 'token', key: 'token' }
  const before = await event(shop, 'RolloutDone')
  await sink(shop, 'one', spec('/one', { tokenSecretRef, kinds: ['EdgePlacement', 'SyncTarget'] }))
  await sink(shop, 'two', spec('/two?from=shop', { reasons: ['ClusterSilent'] }))
  await sink(depot, 'one', spec('/depot'))
  await says(shop, 'one', 'Delivered')
  await says(shop, 'two', 'Delivered')
  await says(depot, 'one', 'Delivered')
  t.same(receiver.reasonsAt('/one'), [GREETING], 'an Event from before the sink is no news')
  await recorder.record(shop, placement('web'), { reason: 'RolloutFailed', message: 'revision 2: <no> & no' })
  await event(shop, 'Forged', { component: 'somebody' })
  await event(shop, 'Degraded', { kind: 'Deployment' })
  await event(shop, 'ClusterSilent', { kind: 'SyncTarget', component: 'mailbox-controller' })
  await receiver.until(() => receiver.at('/one').length === 3 && receiver.at('/two?from=shop').length === 2)
  t.same(receiver.reasonsAt('/one'), [GREETING, 'RolloutFailed', 'ClusterSilent'])
  t.same(receiver.reasonsAt('/two?from=shop'), [GREETING, 'ClusterSilent'])
  t.same(receiver.reasonsAt('/depot'), [GREETING])
  const [greeting, failed] = receiver.at('/one')
  t.equal(greeting?.body.source, '/clusters/root:shop')
  t.equal(failed?.headers['content-type'], 'application/cloudevents+json; charset=utf-8')
  t.equal(failed?.headers.authorization, 'Bearer s3cret-token')
  t.match(failed?.body, {
    specversion: '1.0',
    id: /^.+\.\d+$/,
    source: '/clusters/root:shop',
    type: 'io.kubestellar.edge.RolloutFailed',
    subject: 'EdgePlacement/web',
    datacontenttype: 'application/json',
    data: {
      space: 'root:shop',
      type: 'Warning',
      reason: 'RolloutFailed',
      message: 'revision 2: <no> & no',
      count: 1,
      object: { kind: 'EdgePlacement', name: 'web', uid: 'uid-of-web' },
    },
  })
  t.equal(new Set(receiver.at('/one').map(({ body }) => body.id)).size, 3)
  const { status } = await says(shop, 'one', 'Delivered', ({ delivered }) => delivered === 3)
  t.match(status, { observedGeneration: 1, dropped: 0 })
  t.ok(Number((status as Status).lastResourceVersion) > Number(before.metadata.resourceVersion))
  await removed(shop, 'two')
  await removed(depot, 'one')
})

t.test('after a restart a sink gets what it has not had, once', async t => {
  await says(shop, 'one', 'Delivered', ({ delivered }) => delivered === 3)
  await running.stop()
  await event(shop, 'RolloutStuck')
  await event(shop, 'DeletionHeld')
  running = begin()
  await says(shop, 'one', 'Delivered', ({ delivered }) => delivered === 5)
  t.same(receiver.reasonsAt('/one').slice(3), ['RolloutStuck', 'DeletionHeld'])
  await removed(shop, 'one')
})

t.test('Slack gets text without mentions, at a URL that is shown nowhere', async t => {
  const secret = (url: string) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'default', name: 'slack' },
    data: { url: Buffer.from(url).toString('base64') },
  })
  const urlSecretRef = { namespace: 'default', name: 'slack', key: 'url' }
  await sink(depot, 'slack', { urlSecretRef, form: 'Slack', caBundle })
  const missing = await says(depot, 'slack', 'SecretNotUsable')
  t.equal(conditionOf(missing, 'Delivered')?.message, 'Secret default/slack, key url: there is none')
  await user.in(depot).create(SECRETS, secret('http://localhost/XSECRETX') as KubeObject)
  await running.idle()
  await clock.advance(RETRY.maxMs)
  await world.present(depot, 'noticesinks.edge.kubestellar.io slack', object =>
    /has to begin with https/.test(String(conditionOf(object, 'Delivered')?.message)),
  )
  await user.in(depot).patch(SECRETS, { namespace: 'default', name: 'slack' }, 'merge', {
    data: secret(`${receiver.url}/XSECRETX`).data,
  })
  await running.idle()
  receiver.reply('/XSECRETX', { code: 403 })
  await clock.advance(RETRY.maxMs)
  await says(depot, 'slack', 'Refused')
  receiver.reply('/XSECRETX', { code: 200 })
  await running.idle()
  await clock.advance(RETRY.maxMs)
  await says(depot, 'slack', 'Delivered')
  await recorder.record(depot, placement('web'), { reason: 'DeletionHeld', message: '<!channel> & all' })
  await says(depot, 'slack', 'Delivered', ({ delivered }) => delivered === 2)
  const [last] = receiver.at('/XSECRETX').slice(-1)
  t.same(last?.body, {
    text: ':warning: *DeletionHeld* EdgePlacement web in root:depot\n&lt;!channel&gt; &amp; all',
  })
  t.equal(last?.headers['content-type'], 'application/json')
  for (const [, object] of world.objects(depot))
    if (object.kind !== 'Secret') t.notMatch(JSON.stringify(object), 'XSECRETX')
  t.notMatch(logged.join('\n'), /XSECRETX|s3cret-token/)
  await removed(depot, 'slack')
})

/** The exact wait after so many failures: what is tried again fails or succeeds at that time. */
const waitAfter = (failures: number): number => backoffMs(failures, RETRY, () => 0.5)

t.test('a refused notice is retried under its id, not before the receiver says', async t => {
  receiver.reply('/busy', { code: 500 })
  await sink(shop, 'busy', spec('/busy'))
  await says(shop, 'busy', 'Refused')
  await running.idle()
  const failed = figures?.failed ?? 0
  receiver.reply('/busy', { code: 429, headers: { 'Retry-After': '1800' } })
  await clock.advance(waitAfter(1))
  await receiver.until(() => receiver.at('/busy').length === 2)
  await running.idle()
  t.equal(figures?.failed, failed + 1)
  receiver.reply('/busy', { code: 307, headers: { Location: `${receiver.url}/elsewhere` } })
  await clock.advance(1_799_000)
  await event(shop, 'RolloutFailed')
  await running.idle()
  t.equal(receiver.at('/busy').length, 2, 'neither time nor news comes earlier')
  await clock.advance(1000)
  await world.present(shop, 'noticesinks.edge.kubestellar.io busy', object =>
    /3xx; redirects are not followed/.test(String(conditionOf(object, 'Delivered')?.message)),
  )
  t.equal(receiver.at('/elsewhere').length, 0)
  await running.idle()
  receiver.reply('/busy', { code: 204 })
  await clock.advance(waitAfter(3))
  await says(shop, 'busy', 'Delivered', ({ delivered }) => delivered === 2)
  t.same(receiver.reasonsAt('/busy'), [GREETING, GREETING, GREETING, GREETING, 'RolloutFailed'])
  t.equal(new Set(receiver.at('/busy').map(({ body }) => body.id)).size, 2)
  receiver.reply('/busy', { code: 422 })
  await event(shop, 'RolloutStuck')
  await says(shop, 'busy', 'Refused', ({ dropped }) => dropped === 1)
  await running.idle()
  receiver.reply('/busy', { code: 200 })
  await event(shop, 'RolloutDone')
  await clock.advance(waitAfter(1))
  await says(shop, 'busy', 'Delivered', ({ delivered }) => delivered === 3)
  t.same(receiver.reasonsAt('/busy').slice(5), ['RolloutStuck', 'RolloutDone'], 'the receiver will not take that one')
  await removed(shop, 'busy')
})

t.test('of a burst the newest wait for a receiver that is down, and a change of the sink tries at once', async t => {
  receiver.reply('/burst', { code: 503 })
  await sink(shop, 'burst', spec('/burst'))
  await says(shop, 'burst', 'Refused')
  for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 100 }, () => event(shop, 'Degraded')))
  await receiver.until(() => receiver.at('/burst').length >= 1)
  receiver.reply('/burst', { code: 200 })
  await user.in(shop).patch(NOTICE_SINKS, { name: 'burst' }, 'merge', {
    spec: spec('/burst', { form: 'CloudEvents', reasons: ['Degraded'] }),
  })
  const { status } = await says(shop, 'burst', 'Delivered', ({ delivered }) => delivered === MAX_WAITING + 1)
  t.match(status, { dropped: 1000 - MAX_WAITING, observedGeneration: 2 })
  const names = receiver.at('/burst').length
  t.equal(names, MAX_WAITING + 2, 'the failed greeting, the greeting, and as many as may wait')
  await removed(shop, 'burst')
})

t.test('an Event that is gone is dropped, and one that is written again comes again', async t => {
  receiver.reply('/again', { code: 500 })
  await sink(shop, 'again', spec('/again', { reasons: ['RolloutFailed', 'RolloutProgressing'] }))
  await says(shop, 'again', 'Refused')
  const gone = await event(shop, 'RolloutFailed')
  const first = await event(shop, 'RolloutProgressing')
  const ref = (object: KubeObject) => ({ namespace: 'default', name: object.metadata.name ?? '' })
  await translator.in(shop).delete(EVENTS, ref(gone))
  await translator.in(shop).patch(EVENTS, ref(first), 'merge', { message: 'revision 3' })
  await running.idle()
  receiver.reply('/again', { code: 200 })
  await clock.advance(RETRY.maxMs)
  await says(shop, 'again', 'Delivered', ({ delivered, dropped }) => delivered === 2 && dropped === 1)
  await translator.in(shop).patch(EVENTS, ref(first), 'merge', { message: 'revision 4', count: 2 })
  await says(shop, 'again', 'Delivered', ({ delivered }) => delivered === 3)
  const messages = receiver.at('/again').map(({ body }) => body.data.message)
  t.same(messages.slice(-2), ['revision 3', 'revision 4'])
  await removed(shop, 'again')
})

t.test('a status that is refused is written once it may be, although no notice waits', async t => {
  receiver.reply('/refused', { code: 500 })
  refusals = 2
  await sink(shop, 'refused', spec('/refused'))
  await receiver.until(() => receiver.at('/refused').length === 1)
  await running.idle()
  await clock.advance(20)
  await running.idle()
  await clock.advance(40)
  await says(shop, 'refused', 'Refused')
  await running.idle()
  receiver.reply('/refused', { code: 200 })
  refusals = 1
  await clock.advance(RETRY.maxMs)
  await receiver.until(() => receiver.at('/refused').length === 2)
  await running.idle()
  await clock.advance(1000)
  const written = await says(shop, 'refused', 'Delivered', ({ delivered }) => delivered === 1)
  t.match(written.status, { observedGeneration: 1 })
  await removed(shop, 'refused')
})

t.test('a sink that goes ends its request, and so does the stop of the controller', async t => {
  for (const end of [() => removed(depot, 'slow'), () => running.stop()]) {
    receiver.reply('/slow', 'hang')
    const { brokenOff } = receiver
    const before = receiver.at('/slow').length
    await sink(depot, 'slow', spec('/slow'))
    // a neighbour is not kept waiting
    await sink(depot, 'quick', spec('/quick'))
    await says(depot, 'quick', 'Delivered')
    await receiver.until(() => receiver.at('/slow').length > before)
    await end()
    await receiver.until(() => receiver.brokenOff > brokenOff)
    t.equal(receiver.at('/slow').length, before + 1)
    await removed(depot, 'quick')
  }
  receiver.reply('/slow', { code: 200 })
  running = begin()
  await says(depot, 'slow', 'Delivered')
  await removed(depot, 'slow')
})

t.test('the status says why nothing comes', async t => {
  const other = await startReceiver(t)
  await sink(depot, 'stranger', { url: `${other.url}/x`, caBundle })
  await says(depot, 'stranger', 'CertificateNotTrusted')
  other.close()
  await sink(depot, 'gone', { url: `${other.url}/x`, caBundle: other.caBundle })
  await says(depot, 'gone', 'Unreachable')
  await sink(depot, 'metadata', { url: 'https://169.254.169.254/latest/meta-data' })
  const { status } = await says(depot, 'metadata', 'AddressNotAllowed')
  t.match(JSON.stringify(status), '--webhook-allowed-hosts')
  for (const name of ['stranger', 'gone', 'metadata']) await removed(depot, name)
  const faults = logged.filter(line => /failed|skipped/.test(line) && !line.includes('"name":"refused"'))
  t.equal(faults.join('\n'), '')
})
