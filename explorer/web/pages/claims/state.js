// The state of the page of claims: a claim, λ, the scenario whose batch it is executed on, and the runs that measure it.
import { pageData } from "../../kit/page_data.js";
import { PageInUrl } from "../../kit/page_state_in_url.js";
import { shareableLink, wholeLink } from "../../kit/redacted_scenario_links.js";
import { newestOf } from "../../kit/request_scheduling.js";
import { pause } from "../../kit/server.js";
import * as link from "../../kit/state_link.js";
import { stored } from "../../kit/storage.js";

/** @typedef {import("../../wire").ClaimsServer} ClaimsServer */

const POLL_MS = 1500;

/** @extends {PageInUrl<ClaimsServer>} */
export class ClaimsPage extends PageInUrl {
  constructor() {
    super(["row", "verdicts", "followed"], pageData.claims.table);
    /** @type {import("../../wire").ClaimResults | null} */
    this.row = null;
    /** @type {Record<string, string>} */
    this.verdicts = {};
    /** @type {import("../../wire").FollowedRuns | null} */
    this.followed = null;
    this.scene = ""; // as an address may have it
    this.newest = newestOf();
    this.followedRuns = "";
  }

  get listed() {
    return pageData.claims.listed;
  }
  get claim() {
    const { claim } = this.store.state;
    return this.listed.find(({ name }) => name === claim) ?? this.listed[0];
  }
  /** @returns {string[]} */
  get runs() {
    return this.store.state.runs.split(",").filter(Boolean);
  }
  // What the tests wait for.
  get drawn() {
    return this.row !== null;
  }

  /** @param {import("../../kit/types").Asking<ClaimsServer>} server */
  async connect(server) {
    await super.connect(server);
    await this.ask();
    const answer = await server.verdicts({});
    if (answer.error) return;
    this.verdicts = answer.verdicts;
    this.publish("verdicts");
  }

  /** @param {string} text */
  open(text) {
    const values = link.read(this.store.table, text);
    // Without a scenario in the link it is that which the reader left on Explore.
    if (values.scene === undefined) values.scene = stored("scene") ?? "";
    this.store.reset(this.store.known(values));
    this.row = null;
    this.publish("state");
    this.ask();
    this.followRuns();
    return true;
  }

  async ask() {
    const { server, claim } = this;
    if (!server) return;
    const { scale, scene } = this.store.state;
    const request = { claim: claim.name, scale, scene: wholeLink(scene) };
    const answer = await this.newest(() => server.row(request));
    this.fail(answer.error ?? null);
    if (answer.error) return;
    this.row = answer;
    this.scene = await shareableLink(answer.scene);
    this.publish("row");
  }

  /** @param {object} change */
  set(change) {
    const before = this.claim;
    this.store.update(change);
    if (this.claim !== before) {
      this.store.update({ runs: "" });
      this.row = null;
      this.followed = null;
      this.followedRuns = "";
    }
    this.history?.remember();
    this.publish("state");
    this.ask();
  }

  /** @param {1 | -1} way */
  step(way) {
    const { listed } = this;
    const place = listed.indexOf(this.claim) + way;
    this.set({ claim: listed[(place + listed.length) % listed.length].name });
  }

  async train() {
    const { server, claim } = this;
    if (!server) return;
    const answer = await server.train({ claim: claim.name, scene: wholeLink(this.store.state.scene) });
    this.fail(answer.error ?? null);
    if (answer.error) return;
    this.store.update({ runs: answer.started.join(",") });
    this.history?.remember();
    this.publish("state");
    this.followRuns();
  }

  /** Ask how the runs are, until all have ended or others are followed. */
  async followRuns() {
    const { server, claim } = this;
    const runs = this.store.state.runs;
    this.followedRuns = runs;
    this.followed = null;
    while (server && runs && this.followedRuns === runs) {
      const answer = await server.follow({ claim: claim.name, runs: runs.split(",") });
      if (this.followedRuns !== runs) return;
      if (answer.error) return this.fail(answer.error);
      this.followed = answer;
      this.publish("followed");
      if (answer.done === answer.count) {
        if (answer.problem) this.warn(answer.problem);
        return;
      }
      await pause(POLL_MS);
    }
    this.publish("followed");
  }

  async stop() {
    const answer = await this.server.stop({ runs: this.runs });
    if (answer.error) this.warn(answer.error);
  }

  /** The address of a claim on this batch. */
  addressOf(/** @type {string} */ claim) {
    const path = new URL("learn/claims", document.baseURI).pathname;
    const query = new URLSearchParams({ claim });
    if (this.store.state.scene) query.set("scene", this.store.state.scene);
    return `${path}${location.search}#${query}`;
  }
}

export default () => new ClaimsPage();
