// What the benchmark does inside the page. "Visible" is after the animation frame that follows the
// redraw has been laid out and painted: a message posted in that frame arrives then.
(() => {
  const page = window.lossprism.page() ?? window.lossprism.page("compare");
  const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });
  const frame = () => new Promise((done) => { requestAnimationFrame(done); });
  const painted = async () => {
    await frame();
    const { port1, port2 } = new MessageChannel();
    await new Promise((done) => { port1.onmessage = done; port2.postMessage(0); });
    port1.close();
  };
  const track = () => document.querySelector("input[data-parameter=scale]");
  const slide = (place) => {
    track().value = place;
    track().dispatchEvent(new Event("input", { bubbles: true }));
  };
  const later = async (before) => { while (page.drawn <= before) await wait(0); };
  // Drawings hear of themselves: who polls for them may see a frame later.
  let [drawings, heard] = [0, () => {}];
  for (const topic of ["moving", "picture", "compared"]) page.on(topic, () => { drawings += 1; heard(); });
  const drawing = () => new Promise((done) => { heard = done; });
  // A hand has the range of the slider with its first movement.
  const touched = async () => {
    slide(400);
    while (page.sliderPreview && !page.sliderPreview.covers("scale")) await wait(5);
    await still();
  };
  const still = async () => { while (page.flying || page.waiting) await wait(5); };

  return {
    async batch(pairs) {
      page.set({ loss: "cosent", data: { source: "random", random: { ...lossprism.pageData.defaults.data.random, pairs } } });
      await still();
      await wait(700);
    },

    async compared(pairs) {
      for (const section of ["side-0", "agreement", "matrices", "numbers", "formula"]) page.unfold(section, true);
      page.set({ data: { source: "random", random: { ...lossprism.pageData.defaults.data.random, pairs } } });
      await still();
      await wait(700);
    },

    // Milliseconds from an input event to the frame that shows its matrix, and to the frame that shows its strip, bars
    // and rows, too.
    async moves(count) {
      const [cells, all] = [[], []];
      await touched();
      for (let i = 0; i < count; i += 1) {
        const before = page.drawn;
        await frame();
        await wait((7 * i) % 16);  // a hand does not move in step with the screen
        const started = performance.now();
        const drawn = drawing();
        slide(400 + 5 * i);
        await drawn;
        await painted();
        cells.push(performance.now() - started);
        if (page.drawn <= before) {
          await drawing();
          await painted();
        }
        all.push(performance.now() - started);
        await still();
        await wait(20);
      }
      return { cells, all };
    },

    // Frames a second that show another picture while an input event comes with every frame, milliseconds until the
    // slider's range was here, and from the last event to the exact picture.
    async drag(duration) {
      const asked = performance.now();
      await touched();
      const [started, fetched] = [performance.now(), performance.now() - asked];
      let changed = 0;
      for (let i = 0; performance.now() - started < duration; i += 1) {
        const before = drawings;
        slide(300 + (i % 400));
        await frame();
        changed += drawings > before;
      }
      const [released, rate] = [performance.now(), (1000 * changed) / (performance.now() - started)];
      await still();
      return { rate, fetched, exact: performance.now() - released };
    },

    // Milliseconds of one mouse move over the matrix: bands, card with formula, bars, tables.
    async hover(count) {
      const canvas = document.querySelector("#main-matrix .lp-stage canvas");
      const box = canvas.getBoundingClientRect();
      const times = [];
      for (let i = 0; i < count; i += 1) {
        const [x, y] = [(0.37 * i) % 1, (0.61 * i) % 1];
        const started = performance.now();
        canvas.dispatchEvent(new PointerEvent("pointermove", {
          bubbles: true, clientX: box.left + x * box.width, clientY: box.top + y * box.height,
        }));
        times.push(performance.now() - started);
        await frame();
      }
      return times;
    },

    async updates(count) {
      for (let i = 0; i < count; i += 1) {
        const before = page.drawn;
        slide(300 + (i % 400));
        await later(before);
      }
      await still();
    },
  };
})()
