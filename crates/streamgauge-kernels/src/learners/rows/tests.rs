use super::*;

#[test]
fn rows_are_split_into_numbers_and_nominal_codes() {
    let layout = Layout::new(&Schema { n_values: vec![0, 3, 0, 2], n_classes: 2 });
    assert_eq!(layout.slots[3], Slot::Nominal(1));
    let mut rows = Rows::<1>::new(&layout, 2);
    rows.fill(&layout, &[1.5, 2.0, -1.0, 1.0, f64::INFINITY, f64::NAN, 0.0, 0.0], 2);
    assert_eq!(rows.row(0).panels()[0].vector(0), F64x4([1.5, -1.0, 0.0, 0.0]));
    assert_eq!((rows.row(0).codes(), rows.row(0).has_missing()), ([2, 4].as_slice(), false));
    assert!(rows.row(1).panels()[0].0[0].is_nan());
    assert_eq!((rows.row(1).codes(), rows.row(1).has_missing()), ([MISSING, 3].as_slice(), true));
}

#[test]
fn attributes_of_a_subspace_fill_the_first_columns() {
    let schema = Schema { n_values: vec![0, 3, 0, 2, 0], n_classes: 2 };
    let layout = Layout::in_subspace(&schema, 3);
    let mut rows = Rows::<1>::new(&layout, 2);
    rows.gather(1, &layout, &[1.0, 2.0, 3.0, 1.0, 5.0], &[0, 3, 4]);
    assert_eq!(rows.row(1).panels()[0].vector(0), F64x4([1.0, 5.0, 0.0, 0.0]));
    assert_eq!((rows.row(1).codes(), rows.row(1).has_missing()), ([4, MISSING].as_slice(), false));
    rows.gather(1, &layout, &[1.0, f64::NAN, 3.0, 1.0, 5.0], &[1, 2, 3]);
    assert_eq!(rows.row(1).panels()[0].vector(0), F64x4([3.0, 0.0, 0.0, 0.0]));
    assert!(rows.row(1).has_missing());
    // A frozen leaf has no subspace: what does not fit is left out.
    let narrow = Layout::in_subspace(&schema, 1);
    let mut rows = Rows::<1>::new(&narrow, 1);
    rows.fill(&narrow, &[1.0, 2.0, 3.0, 1.0, 5.0], 1);
    assert_eq!(rows.row(0).codes(), [2]);
    let numbers = Layout::in_subspace(&Schema { n_values: vec![0; 6], n_classes: 2 }, 2);
    let mut rows = Rows::<1>::new(&numbers, 2);
    rows.gather(0, &numbers, &[0.0, 1.0, f64::NEG_INFINITY, 3.0, 4.0, 5.0], &[1, 5]);
    assert_eq!((rows.row(0).panels()[0].vector(0), rows.row(0).has_missing()), (F64x4([1.0, 5.0, 0.0, 0.0]), false));
    rows.gather(0, &numbers, &[0.0, 1.0, f64::NEG_INFINITY, 3.0, 4.0, 5.0], &[2, 5]);
    assert!(rows.row(0).panels()[0].0[0].is_nan() && rows.row(0).has_missing());
}

#[test]
fn numbers_alone_are_padded_with_zeros() {
    for d in [1_usize, 3, 4, 10, 16, 17, 1000] {
        let schema = Schema { n_values: vec![0; d], n_classes: 2 };
        let layout = Layout::new(&schema);
        let x: Vec<f64> = (0..2 * d).map(|i| i as f64).collect();
        let mut rows = Rows::<MAX_VECTORS>::new(&layout, 2);
        rows.fill(&layout, &x, 2);
        for i in 0..2 {
            let numbers: Vec<f64> = rows.row(i).panels().iter().flat_map(|panel| panel.0).collect();
            assert_eq!(numbers[..d], x[i * d..(i + 1) * d]);
            assert!(numbers[d..].iter().all(|&number| number == 0.0));
            assert!(!rows.row(i).has_missing());
        }
        let total: usize = (0..layout.n_panels::<MAX_VECTORS>()).map(|p| columns_in_panel::<MAX_VECTORS>(d, p)).sum();
        assert_eq!(total, d);
    }
}
