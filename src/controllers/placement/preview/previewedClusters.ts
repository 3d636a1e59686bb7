/** Effect on one object in one cluster, for a preview: the content that is on its way beside the future one. */

import { isStatusError } from '../../../apimachinery/errors.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { inSlices } from '../../../apimachinery/steps.ts'
import type { Client } from '../../../client/client.ts'
import { refOf } from '../../../client/refOf.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import type { Allowance } from '../../../placement/consent/allowance.ts'
import { wantsExpansion } from '../../../placement/content/adaptation.ts'
import { createdCopy, project, updatedCopy } from '../../../placement/content/projection.ts'
import type { PreviewAction } from '../../../placement/desks/placementPreview.ts'
import type { ClusterOutcome } from '../../../placement/outcome/clusterOutcome.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { Destination } from '../../../placement/words/ways.ts'
import { adapt, adaptationOf } from '../copies/adaptations.ts'
import { type Decision, type DecisionFacts, decide, type Gate } from '../copies/decide.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import { byAge, type Source } from '../join/placementProduct.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import { UNSCHEDULABLE } from '../mailboxes/unschedulableMailboxes.ts'
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
  /** Facts of the present. */
  facts: DecisionFacts
  retained: Pick<RetainedCopies, 'keeps'>
  mailbox: (name: string) => Mailbox | undefined
  /** Outcome of its syncer, by the mailbox's space. */
  outcome: (space: string) => ClusterOutcome
  knowsMailbox: (name: string) => boolean
}

/** For the decision on disclosure, an object is customized without undisclosed parameters, and so is the present copy. */
const CUSTOMIZED = 3

interface Kept {
  readonly effect: PreviewAction
  readonly why: Reason
}

/** The effect of each gate on an object that would be written. */
const KEPT: Readonly<Record<Gate, Kept>> = {
  leaving: { effect: 'Unchanged', why: LEAVING },
  locationPaused: { effect: 'Paused', why: LOCATION_PAUSED },
  unschedulable: { effect: 'NotPermitted', why: UNSCHEDULABLE },
  paused: { effect: 'Paused', why: PAUSED },
}

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
    const { join } = this.#deps
    const then = scene.join
    const { space, fact, object } = imagined
    const { location } = source
    const mailbox = this.#deps.mailbox(name)
    if (!mailbox?.synced || !this.#deps.knowsMailbox(name)) return findings.add('Unknown', location, NOT_READY)
    const others = join.sourcesOf(name, fact.key).filter(claim => claim.space !== space)
    const decision = decide(this.#factsWith(scene, [...others, source].sort(byAge)), mailbox, fact.key)
    const owner = mailbox.ownerOf(fact.key)
    const kept = this.#keptFrom(source, decision, { owner, mailbox: name })
    if (kept) return findings.add(kept.effect, location, kept.why)
    const at = { space, fact, location }
    const made = await sources.customize(at, object)
    scene.workLeft -= CUSTOMIZED * made.work
    const { object: customized, faults } = made
    const isShown = await disclosure.showsMade(at, object, made)
    if (faults.length > 0) return findings.add('Invalid', location, isShown ? invalid(faults.join('; ')) : INVALID)
    const secures = this.#deps.consents.allowance(space, location).clusterScoped
    const adaptation = adaptationOf(
      { ...then, adopts: claim => join.adopts(claim), associatedOf: claim => join.associatedOf(claim) },
      source,
    )
    const projection = adapt(join, source, { mailbox: name, object, customized, adaptation, secures })
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
    // the result of a guess is undisclosed, too: it is shown only for content equal to the stored object's
    if (!(isShown && showsThere) && !(await this.#isAsStored(scene, imagined)))
      return findings.add('Update', location, MAY_BE_HIDDEN)
    if (!after) return findings.add('Unchanged', location)
    // what another space says of the copy is nobody else's business
    if (!isShown) return findings.add('Update', location, HIDDEN)
    if (owner !== space) return await show('Update', location, { after: whole }, TAKEN_OVER)
    if (!showsThere) return findings.add('Update', location, HIDDEN)
    await show('Update', location, { before: copy, after }, this.#refusedIn(mailbox, fact.key))
  }

  /** Facts of the present, with the specs of a preview and these claims on its object. */
  #factsWith({ join: then }: Scene, claims: readonly Source[]): DecisionFacts {
    const { facts } = this.#deps
    const join: DecisionFacts['join'] = {
      sourcesOf: () => [...claims],
      unsureOf: (...what) => facts.join.unsureOf(...what),
      fact: (...what) => facts.join.fact(...what),
      spec: (...what) => then.spec(...what),
    }
    // others of the preview may go with it, and what needs it with them
    return { ...facts, join, isNeeded: () => false }
  }

  /** The effect of a decision that does not write the imagined claim. */
  #keptFrom(
    source: Source,
    decision: Decision,
    at: { readonly owner: string | undefined; readonly mailbox: string },
  ): Kept | undefined {
    const { owner = '', mailbox } = at
    const { key } = source.fact
    if (decision.verb === 'wait') return { effect: 'Unknown', why: NOT_READY }
    if (decision.verb === 'keep' && decision.gate !== 'paused') return KEPT[decision.gate]
    if (decision.verb === 'keep' && decision.unwanted) return { effect: 'Conflict', why: keptConflict(owner) }
    const first = 'claims' in decision ? decision.claims[0] : undefined
    if (first !== source) return { effect: 'Conflict', why: conflict(first?.space) }
    if (decision.verb === 'keep') return KEPT[decision.gate]
    if (decision.verb !== 'pass' || !this.#deps.retained.keeps(owner, mailbox, key)) return undefined
    return { effect: 'Conflict', why: keptConflict(owner) }
  }

  /** Content on its way is not the cluster's, as far as its syncer reports. */
  #refusedIn({ space }: Mailbox, key: string): Reason | undefined {
    const { live, exceptions } = this.#deps.outcome(space)
    const exception = live ? exceptions.get(key) : undefined
    if (exception?.state !== 'refused') return undefined
    return { reason: exception.reason, message: `the cluster refuses it now: ${exception.message}` }
  }

  /** Whether nothing that customization goes by is another than what is stored, nor what it is made of. */
  async #isAsStored({ sources, customizers }: Scene, { space, fact, object }: Imagined): Promise<boolean> {
    const known = this.#deps.join.fact(space, fact.key)
    const stored = known && (await sources.read(space, known))
    if (!stored || customizers.has(fact.customizer) || known.customizer !== fact.customizer) return false
    if (wantsExpansion(stored) !== wantsExpansion(object)) return false
    return updatedCopy(project(space, object), createdCopy(project(space, stored))) === undefined
  }

  /** Where an object is and would go no more. */
  async leave(scene: Scene, { imagined, way, findings, mailbox: name }: Leaving): Promise<void> {
    const { disclosure, request } = scene
    const { space, fact } = imagined
    const mailbox = this.#deps.mailbox(name)
    if (!mailbox?.copies.has(fact.key) || mailbox.ownerOf(fact.key) !== space) return
    const others = this.#deps.join.sourcesOf(name, fact.key).filter(claim => claim.space !== space)
    const decision = decide(this.#factsWith(scene, others), mailbox, fact.key)
    if (decision.verb === 'keep' && decision.gate === 'leaving') return
    if (decision.verb === 'keep') return findings.add('Paused', way, PAUSED)
    const before = await this.copyIn(mailbox, fact.key, imagined)
    if (!before) return
    if (await disclosure.showsCopy({ space, fact, location: way }, before))
      await inSlices(findings.show('Delete', way, { before }), request.work)
    else findings.add('Delete', way, HIDDEN)
  }

  /** The copy on its way to the cluster. */
  async copyIn(mailbox: Mailbox, key: string, { fact }: Imagined): Promise<KubeObject | undefined> {
    const resource = mailbox.copies.get(key)?.resource ?? fact.resource
    const api = this.#deps.client.in(mailbox.space)
    try {
      return await unlessGone(api.get(resource, refOf(fact)))
    } catch (error) {
      // the mailbox went meanwhile
      if (isStatusError(error, 'Forbidden')) return undefined
      throw error
    }
  }
}
