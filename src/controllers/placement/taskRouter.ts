/** Router of tasks: hands each one to its room, or postpones it until enough is known. {@link CopiesTogether} takes copies in batches. */
import type { ReconcileResult } from '../../client/workqueue.ts'
import { unlessSpaceGone } from '../spaceGone.ts'
import type { Parts } from './assembly.ts'
import { decide, mailboxGate } from './copies/decide.ts'
import type { Task } from './join/task.ts'
import { reconcileConfig } from './mailboxes/configReconciler.ts'
import type { Mailbox } from './mailboxes/mailbox.ts'

type InMailbox = Task & { readonly type: 'copy' | 'config' | 'requesters' }

export class TaskRouter {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  // biome-ignore lint/suspicious/noConfusingVoidType: most tasks have nothing to say
  async reconcile(task: Task): Promise<ReconcileResult | void> {
    const { readiness, mailboxes, clusterReports, feedback, closing, reports, brake, rollouts } = this.#parts
    switch (task.type) {
      case 'copy':
      case 'config':
      case 'requesters':
        return await this.#inMailbox(task)
      case 'cluster': {
        const mailbox = mailboxes.get(task.mailbox)
        return mailbox ? await clusterReports.reconcile(mailbox) : {}
      }
      case 'source': {
        const { space, key } = task
        if (!readiness.knowsSource(space, key)) return this.#postpone(task)
        const report = () => unlessSpaceGone(space, feedback.reconcile(space, key))
        return (await closing.whileReporting(space, report)) ?? {}
      }
      case 'report': {
        const { space, name } = task
        const isKnown = readiness.knowsPlacement(space, name)
        if (!isKnown) {
          readiness.postpone(task)
          if (!reports.waits(space, name)) return { postponed: true }
        }
        return (await unlessSpaceGone(space, reports.reconcile(space, name, isKnown))) ?? {}
      }
      case 'rollout': {
        const { space, name } = task
        const answer = await unlessSpaceGone(space, rollouts.reconcile(space, name))
        if (answer?.postponed) readiness.postpone(task)
        return answer ?? {}
      }
      case 'judge':
        return await brake.judge(task.space)
      case 'close':
        if (brake.isPending(task.space) || !closing.close(task.space)) return
        feedback.forget(task.space)
        brake.forget(task.space)
        this.#parts.pendingCopies.release(task.space)
    }
  }

  // biome-ignore lint/suspicious/noConfusingVoidType: as above
  async #inMailbox(task: InMailbox): Promise<ReconcileResult | void> {
    const { facts, mailboxes, readiness, closing, convergence } = this.#parts
    const mailbox = mailboxes.get(task.mailbox)
    if (!mailbox) return { postponed: true } // all its content is queued when it is ready
    if (!readiness.knowsMailbox(task.mailbox)) return this.#postpone(task)
    if (task.type !== 'copy') {
      const gate = mailboxGate(facts, task.mailbox)
      if (gate === 'leaving' || (gate !== undefined && task.type === 'config')) return // looked at again when that is over
      return await unlessSpaceGone<undefined>(mailbox.space, this.#around(task, mailbox))
    }
    const decision = decide(facts, mailbox, task.key)
    if (decision.verb === 'wait') {
      if (decision.space === undefined) return { postponed: true } // all is decided again once consents are known
      closing.follow(decision.space)
      return this.#postpone(task)
    }
    return await unlessSpaceGone<ReconcileResult>(mailbox.space, convergence.copy(mailbox, task.key, decision))
  }

  /** Content of a mailbox beside copies. */
  async #around(task: InMailbox & { readonly type: 'config' | 'requesters' }, mailbox: Mailbox): Promise<undefined> {
    const { explained, join, records, tasks } = this.#parts
    if (task.type === 'requesters') await records.reconcile(mailbox, task.key)
    else await reconcileConfig({ client: explained, join, records, tasks }, mailbox)
  }

  #postpone(task: Task): ReconcileResult {
    this.#parts.readiness.postpone(task)
    return { postponed: true }
  }
}
