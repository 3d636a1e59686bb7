/** What would become of one object in one cluster, as a preview finds it: what is on its way there beside what would be. */

import { isStatusError } from '../../../apimachinery/errors.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { inSlices } from '../../../apimachinery/steps.ts'
import type { Client } from '../../../client/client.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import type { Allowance, Told } from '../../../placement/consent/allowance.ts'
import { wantsExpansion } from '../../../placement/content/adaptation.ts'
import { createdCopy, project, updatedCopy } from '../../../placement/content/projection.ts'
import type { ClusterOutcome } from '../../../placement/outcome/clusterOutcome.ts'
import type { Destination } from '../../../placement/words/ways.ts'
import { asksToSecure, leftThere, ownersThere, withoutPodSecurity } from '../copies/adaptations.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import { byAge, type Source } from '../join/placementProduct.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import { byRight, type OwnershipRules } from '../mailboxes/ownership.ts'
import type { Pauses } from '../retention/pauses.ts'
import type { RetainedCopies } from '../retention/retainedCopies.ts'
import type { Finding } from './previewGroups.ts'
import type { Imagined, Scene } from './previewScene.ts'
import {
  conflict,
  HIDDEN,
  INVALID,
  invalid,
  keptConflict,
  LEAVING,
  LOCATION_PAUSED,
  MAY_BE_HIDDEN,
  NOT_READY,
  PAUSED,
  REFUSED,
  TAKEN_OVER,
} from './previewWords.ts'

export interface PreviewedClustersDeps {
  client: Client
  join: PlacementJoin
  consents: { allowance(space: string, way: Destination): Allowance }
  rules: OwnershipRules
  pauses: Pick<Pauses, 'holdsCopy' | 'locationOf'>
  retained: Pick<RetainedCopies, 'keeps'>
  isLeaving: (mailbox: string) => boolean
  wouldKeepOut: (mailbox: Mailbox, key: string) => Told | undefined
  mailbox: (name: string) => Mailbox | undefined
  /** What its syncer says, by the mailbox's space. */
  outcome: (space: string) => ClusterOutcome
  knowsMailbox: (name: string) => boolean
}

/** To know whether it may be shown, an object is customized without what may not be told, and so is what is there. */
const CUSTOMIZED = 3

interface Leaving {
  readonly imagined: Imagined
  readonly way: Destination
  readonly findings: Finding
  readonly mailbox: string
}

export class PreviewedClusters {
  readonly #deps: PreviewedClustersDeps

  constructor(deps: PreviewedClustersDeps) {
    this.#deps = deps
  }

  /** Where it would go, or goes already. */
  async look(
    scene: Scene,
    {
      imagined,
      source,
      findings,
      mailbox: name,
    }: { imagined: Imagined; source: Source; findings: Finding; mailbox: string },
  ): Promise<void> {
    const { sources, disclosure } = scene
    const { join, rules, pauses } = this.#deps
    const then = scene.join
    const { space, fact, object } = imagined
    const { location } = source
    const mailbox = this.#deps.mailbox(name)
    if (!mailbox?.synced || !this.#deps.knowsMailbox(name)) return findings.add('Unknown', location, NOT_READY)
    if (this.#deps.isLeaving(name)) return findings.add('Unchanged', location, LEAVING)
    if (pauses.locationOf(name) !== undefined) return findings.add('Paused', location, LOCATION_PAUSED)
    const closed = this.#deps.wouldKeepOut(mailbox, fact.key)
    if (closed) return findings.add('NotPermitted', location, closed)
    const others = join.sourcesOf(name, fact.key).filter(claim => claim.space !== space)
    const owner = mailbox.ownerOf(fact.key)
    const [first] = byRight([...others, source].sort(byAge), { mailbox: name, owner, rules })
    if (first !== source) return findings.add('Conflict', location, conflict(first?.space))
    if (owner !== undefined && owner !== space && this.#deps.retained.keeps(owner, name, fact.key))
      return findings.add('Conflict', location, keptConflict(owner))
    if (fact.isPaused === true || source.placements.every(each => then.spec(space, each)?.isPaused))
      return findings.add('Paused', location, PAUSED)
    const at = { space, fact, location }
    const made = await sources.customize(at, object)
    scene.workLeft -= CUSTOMIZED * made.work
    const { object: customized, faults } = made
    const isShown = await disclosure.showsMade(at, object, made)
    if (faults.length > 0) return findings.add('Invalid', location, isShown ? invalid(faults.join('; ')) : INVALID)
    const secures = this.#deps.consents.allowance(space, location).clusterScoped
    const secured = asksToSecure(source, object) && !secures ? withoutPodSecurity(customized) : customized
    const preserve = source.placements.some(each => then.spec(space, each)?.preserves)
    const left = leftThere(then, source)
    const owners = ownersThere(join, name, source, object)
    const projection = project(space, secured, { preserve, adopt: join.adopts(source), left, owners })
    const known = mailbox.copies.get(fact.key)
    const copy = known && (await this.copyIn(mailbox, fact.key, imagined))
    const whole = createdCopy(projection)
    const after = copy && updatedCopy(projection, copy)
    if (fact.customized && (!copy || after)) {
      const refused = await scene.checks.refusal(mailbox, { resource: fact.resource, whole, before: copy, after })
      if (refused) return findings.add('Invalid', location, isShown ? refused : REFUSED)
    }
    const show = (...shown: Parameters<Finding['show']>) => inSlices(findings.show(...shown), scene.request.work)
    if (!copy)
      return isShown ? await show('Create', location, { after: whole }) : findings.add('Create', location, HIDDEN)
    const showsThere = await disclosure.showsCopy(at, copy)
    // whether a guess is right is nobody's business either: that is told only of what says the same as the stored object
    if (!(isShown && showsThere) && !(await this.#saysAsStored(scene, imagined)))
      return findings.add('Update', location, MAY_BE_HIDDEN)
    if (!after) return findings.add('Unchanged', location)
    // what another space says of the copy is nobody else's business
    if (!isShown) return findings.add('Update', location, HIDDEN)
    if (owner !== space) return await show('Update', location, { after: whole }, TAKEN_OVER)
    if (!showsThere) return findings.add('Update', location, HIDDEN)
    await show('Update', location, { before: copy, after }, this.#refusedIn(mailbox, fact.key))
  }

  /** What is on its way is not what the cluster has, as far as its syncer says. */
  #refusedIn({ space }: Mailbox, key: string): Told | undefined {
    const { live, exceptions } = this.#deps.outcome(space)
    const exception = live ? exceptions.get(key) : undefined
    if (exception?.state !== 'refused') return undefined
    return { reason: exception.reason, message: `the cluster refuses it now: ${exception.message}` }
  }

  /** Whether nothing that customization goes by is another than what is stored, nor what it is made of. */
  async #saysAsStored({ sources, customizers }: Scene, { space, fact, object }: Imagined): Promise<boolean> {
    const known = this.#deps.join.fact(space, fact.key)
    const stored = known && (await sources.read(space, known))
    if (!stored || customizers.has(fact.customizer) || known.customizer !== fact.customizer) return false
    if (wantsExpansion(stored) !== wantsExpansion(object)) return false
    return updatedCopy(project(space, object), createdCopy(project(space, stored))) === undefined
  }

  /** Where an object is and would go no more. */
  async leave({ disclosure, request }: Scene, { imagined, way, findings, mailbox: name }: Leaving): Promise<void> {
    const { space, fact } = imagined
    const mailbox = this.#deps.mailbox(name)
    if (!mailbox?.copies.has(fact.key) || mailbox.ownerOf(fact.key) !== space) return
    if (this.#deps.isLeaving(name)) return
    const isPaused =
      this.#deps.pauses.locationOf(name) !== undefined || this.#deps.pauses.holdsCopy(name, fact.key, space)
    if (isPaused) return findings.add('Paused', way, PAUSED)
    const before = await this.copyIn(mailbox, fact.key, imagined)
    if (!before) return
    if (await disclosure.showsCopy({ space, fact, location: way }, before))
      await inSlices(findings.show('Delete', way, { before }), request.work)
    else findings.add('Delete', way, HIDDEN)
  }

  /** What is on its way to the cluster. */
  async copyIn(mailbox: Mailbox, key: string, { fact }: Imagined): Promise<KubeObject | undefined> {
    const resource = mailbox.copies.get(key)?.resource ?? fact.resource
    const api = this.#deps.client.in(mailbox.space)
    try {
      return await unlessGone(
        api.get(resource, { name: fact.name, ...(fact.namespace !== '' && { namespace: fact.namespace }) }),
      )
    } catch (error) {
      // the mailbox went meanwhile
      if (isStatusError(error, 'Forbidden')) return undefined
      throw error
    }
  }
}
