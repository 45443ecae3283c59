//! Faults that other libraries had, as tests: one per case of tests/data/cases.json, by its id.
//!
//! A case has its smallest input and the right value (`f`, `df`, `d2f`: value, first and second derivative along
//! A + t dA + t^2/2 d2A). Every case runs in `Dual`, `HyperDual`, `Dual2` and nested `Dual`.
#![allow(non_snake_case)] // the tests are named by the ids of the cases

mod support;

mod faults {
    #[macro_use]
    pub mod case;
    pub mod linalg;
    pub mod scalars;
}

use faults::{case, linalg, scalars};

/// Cases where a policy of the library decides against the recorded value, with the reason; their tests check what
/// the policy says.
const DECIDED_BY_POLICY: &[(&str, &str)] = &[
    ("S020", "operators follow IEEE: the product meets 0 * inf in the second-order part, which is NaN"),
    ("S080", "comparisons look at the value only, so that control flow equals the f64 run"),
    ("S081", "comparisons look at the value only, so that control flow equals the f64 run"),
    ("S091", "the slope at 1e-160 is -x/3, an ordinary number, which the file rounds to 0"),
];

/// Cases whose operation does not exist yet.
const NOT_REACHED: &[(&str, &str)] = &[
    ("L028", "symmetric eigenvalues"),
    ("L030", "QR"),
    ("L031", "QR"),
    ("L034", "least squares"),
    ("L035", "pseudo-inverse"),
    ("L037", "symmetric eigenvectors"),
    ("L038", "symmetric eigenvectors"),
    ("L040", "symmetric eigenvalues"),
    ("L041", "spectral sum"),
    ("L043", "spectral sum"),
    ("L044", "symmetric eigenvectors"),
    ("L046", "symmetric eigenvalues"),
    ("L047", "symmetric eigenvectors"),
    ("L049", "eigenvalues"),
    ("L050", "eigenvalues"),
    ("L052", "eigenvalues"),
    ("L053", "eigenvectors"),
    ("L055", "singular values"),
    ("L056", "nuclear norm"),
    ("L058", "nuclear norm"),
    ("L059", "singular values"),
    ("L061", "singular values"),
    ("L094", "Schur form"),
    ("L095", "symmetric eigenvectors"),
];

/// One test per id, each calling the check of its operation.
macro_rules! cases {
    ($($($id:ident)+ => $check:path;)+) => {
        $($(
            #[test]
            fn $id() {
                $check(&case::load(stringify!($id)));
            }
        )+)+

        /// The ids that have a test.
        const REACHED: &[&str] = &[$($(stringify!($id)),+),+];
    };
}

cases! {
    S001 S002 S004 S005 S007 => scalars::powi;
    S008 S010 S011 S013 S014 => scalars::powf;
    S016 S017 => scalars::powd;
    S019 => scalars::powd_constant_exponent;
    S020 => scalars::product_with_power;
    S021 S022 S023 => scalars::sqrt;
    S024 => scalars::ln;
    S025 S026 S055 => scalars::acos;
    S028 => scalars::cbrt;
    S029 => scalars::exp;
    S031 S032 S034 => scalars::quotient;
    S035 S037 => scalars::tanh;
    S038 => scalars::exp_m1;
    S040 S041 => scalars::ln_1p;
    S043 S044 => scalars::acosh;
    S046 S047 => scalars::asinh;
    S049 => scalars::atanh;
    S050 => scalars::atanh_of_double;
    S052 => scalars::acos_of_triple;
    S053 => scalars::atan_of_triple;
    S056 S058 S059 => scalars::atan2;
    S061 S062 S064 => scalars::hypot;
    S065 => scalars::half_squared_norm;
    S067 S068 => scalars::rem;
    S070 => scalars::rem_euclid;
    S071 => scalars::fract;
    S073 S074 => scalars::copysign;
    S076 => scalars::abs;
    S077 S078 => scalars::max_and_min;
    S079 => scalars::clamp;
    S080 => scalars::branch_on_equality;
    S081 => scalars::early_exit;
    S082 => scalars::complex_exponential;
    S083 => scalars::mul_add_lanes;
    S085 => scalars::square_minus_self;
    S086 => scalars::powers_of_two;
    S088 => scalars::normalisation;
    S089 S091 => scalars::sinc;
    S092 => scalars::sinc_pi;
    S094 => scalars::sinhc;
    S095 S097 S098 => scalars::perturbation_confusion;
    S100 => scalars::composite;

    L001 => linalg::cholesky_lower;
    L003 => linalg::gradient_of_upper_cholesky;
    L004 => linalg::jacobian_of_lower_cholesky;
    L006 => linalg::sum_of_inverse_from_factor;
    L007 => linalg::weighted_solves_from_factors;
    L009 L010 => linalg::determinant_of_family;
    L012 L013 => linalg::gradient_of_singular_determinant;
    L015 => linalg::determinant;
    L016 => linalg::empty;
    L018 L025 => linalg::solve;
    L019 L021 L022 L024 => linalg::lu;
    L027 => linalg::solve_large_tridiagonal;
    L062 L065 L067 L068 L070 L071 L073 L074 L076 L077 L079 L080 L082 L083 => linalg::expm_curve;
    L064 => linalg::hessian_through_expm;
    L085 L086 => linalg::matrix_power;
    L088 L089 => linalg::balancing;
    L091 => linalg::unit_triangular_solve;
    L092 => linalg::symmetric_inverse;
}

#[test]
fn every_case_is_tested_or_listed_once() {
    let file = case::ids();
    let listed = REACHED.iter().copied().chain(NOT_REACHED.iter().map(|(id, _)| *id));
    let mut listed: Vec<&str> = listed.collect();
    listed.sort_unstable();
    let mut expected: Vec<&str> = file.iter().map(String::as_str).collect();
    expected.sort_unstable();
    assert_eq!(listed, expected, "the ids of cases.json, each once");
    for (id, _) in DECIDED_BY_POLICY {
        assert!(REACHED.contains(id), "{id}: a policy is a decision on a case that is tested");
    }
}
